"""What an agent, a tool or a callback may send while it runs.

Each function takes any ADK context first and may be called from async code, from sync code
and from worker threads. Where no A2A request is being served they only log at DEBUG.
"""

import base64
import logging
from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any

from a2a.types import Artifact, Message, Part, TaskArtifactUpdateEvent
from google.adk.tools import request_input
from google.genai import types

from aion_adk.context.inbox import AnyContext, invocation_of
from aion_adk.context.turn import SectionEnd, SectionKey, TextChunk, Turn, turn_of
from aion_adk.protocol.from_genai import (
    agent_message,
    data_part,
    reply_parts,
    to_a2a_part,
    working_update,
)
from aion_adk.protocol.stamp import new_id
from aion_adk.protocol.structs import drop_protected, to_struct

logger = logging.getLogger(__name__)

ask_caller = request_input
"""Gives an `LlmAgent` a way to ask its caller: the task waits for the answer.

It is ADK's own `request_input`, so the adk commands and ADK clients know it too.
"""

MessageContent = (
    str | Message | types.Content | Part | types.Part | Iterable[Part | types.Part | str]
)
"""Text, an A2A message or parts, genai content or parts."""


def reply(ctx: AnyContext, content: MessageContent) -> None:
    """Adds one message to the reply of this turn; the reply then wins over every other source."""
    turn = _open_turn(ctx, "reply")
    message = _to_message(content)
    if turn and message.parts:
        turn.buffer.append(turn.with_own_id(message))


async def reply_stream(ctx: AnyContext, chunks: Iterable[str] | AsyncIterable[str]) -> str:
    """Streams `chunks` as they come; the joined text, which is returned, becomes the reply."""
    turn = _open_turn(ctx, "reply_stream")
    key = _section(ctx, new_id())
    received: list[str] = []
    try:
        async for chunk in _async_iterable(chunks):
            received.append(chunk)
            if turn and chunk:
                await turn.outgoing.send(TextChunk(key, chunk))
    finally:
        if turn:
            turn.outgoing.publish(SectionEnd(key))
    text = "".join(received)
    if turn and text:
        turn.buffer.append(turn.with_own_id(_to_message(text)))
    return text


def emit_file(
    ctx: AnyContext,
    *,
    url: str | None = None,
    data: bytes | str | None = None,
    mime_type: str,
    name: str | None = None,
    append: bool = False,
    last_chunk: bool = True,
) -> None:
    """Sends a file as an artifact: a URL, bytes, or bytes in base64 text."""
    if (url is None) == (data is None):
        raise ValueError("emit_file takes exactly one of url and data")
    raw = base64.b64decode(data, validate=True) if isinstance(data, str) else data
    content = Part(url=url) if url is not None else Part(raw=raw)
    content.media_type = mime_type
    content.filename = name or ""
    _publish_artifact(ctx, "file", name, [content], append=append, last_chunk=last_chunk)


def emit_data(
    ctx: AnyContext,
    data: Any,
    *,
    name: str | None = None,
    append: bool = False,
    last_chunk: bool = True,
) -> None:
    """Sends JSON-serialisable data as an artifact."""
    _publish_artifact(ctx, "data", name, [data_part(data)], append=append, last_chunk=last_chunk)


def emit_artifact(
    ctx: AnyContext,
    content: MessageContent,
    *,
    name: str | None = None,
    append: bool = False,
    last_chunk: bool = True,
) -> None:
    """Sends text or parts as an artifact, in one piece or piece by piece."""
    parts = list(_to_message(content).parts)
    _publish_artifact(ctx, "artifact", name, parts, append=append, last_chunk=last_chunk)


def emit_message(ctx: AnyContext, message: MessageContent, *, partial: bool = False) -> None:
    """Sends a message while the task goes on: kept in its history, or only streamed if partial."""
    turn = _open_turn(ctx, "emit_message")
    if turn is None:
        return
    key = _section(ctx, "emit")
    content = _to_message(message)
    if partial:
        for part in content.parts:
            if part.text:
                turn.outgoing.publish(TextChunk(key, part.text))
    elif content.parts:
        turn.last_emitted = turn.with_own_id(content)
        turn.outgoing.publish(SectionEnd(key))
        turn.outgoing.publish(working_update(message=turn.last_emitted))


def emit_task_metadata(ctx: AnyContext, metadata: Mapping[str, Any]) -> None:
    """Merges `metadata` into the task's; keys that only a server may set are dropped."""
    struct = to_struct(metadata)
    if dropped := drop_protected(struct):
        logger.warning("dropped protected metadata keys: %s", ", ".join(dropped))
    turn = _open_turn(ctx, "emit_task_metadata")
    if turn and struct.fields:
        turn.outgoing.publish(working_update(metadata=struct))


def _open_turn(ctx: AnyContext, helper: str) -> Turn | None:
    turn = turn_of(ctx)
    if turn is None:
        logger.debug("%s: no A2A request is being served", helper)
    elif turn.outgoing.closed:
        logger.debug("%s: the request is answered already", helper)
        return None
    return turn


def _publish_artifact(
    ctx: AnyContext,
    kind: str,
    name: str | None,
    parts: list[Part],
    *,
    append: bool,
    last_chunk: bool,
) -> None:
    turn = _open_turn(ctx, f"emit_{kind}")
    if turn is None:
        return
    artifact_id = name
    if not artifact_id:
        # Artifacts without a name do not replace each other; the last one can be appended to.
        if not append or kind not in turn.unnamed_artifacts:
            turn.unnamed_artifacts[kind] = new_id()
        artifact_id = turn.unnamed_artifacts[kind]
    artifact = Artifact(artifact_id=artifact_id, name=name or kind, parts=parts)
    turn.outgoing.publish(
        TaskArtifactUpdateEvent(artifact=artifact, append=append, last_chunk=last_chunk)
    )


def _section(ctx: AnyContext, stream: str) -> SectionKey:
    invocation = invocation_of(ctx)
    author = invocation.agent.name if invocation.agent else ""
    return (author, f"{invocation.branch or ''}#{stream}")


def _to_message(content: MessageContent) -> Message:
    match content:
        case Message():
            return content
        case types.Content():
            return agent_message(reply_parts(content))
        case str() | Part() | types.Part():
            items = [content]
        case _:
            items = content
    parts: list[Part] = []
    for item in items:
        match item:
            case str():
                parts += [Part(text=item)] if item else []
            case Part():
                parts.append(item)
            case _:
                part = to_a2a_part(item)
                parts += [part] if part else []
    return agent_message(parts)


async def _async_iterable(chunks: Iterable[str] | AsyncIterable[str]) -> AsyncIterable[str]:
    if isinstance(chunks, AsyncIterable):
        async for chunk in chunks:
            yield chunk
    else:
        for chunk in chunks:
            yield chunk
