"""What a driver reads of the turn it answers."""

import hashlib
import json
from collections.abc import Iterator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.run_config import (
    StreamingMode,  # pyright: ignore[reportPrivateImportUsage]  # ADK documents it from here
)
from google.genai import types

from aion_adk.inbox import A2AInbox, inbox_of


def is_streaming(ctx: InvocationContext) -> bool:
    return bool(ctx.run_config and ctx.run_config.streaming_mode == StreamingMode.SSE)


def conversation_id(ctx: InvocationContext) -> str:
    """An id for what the driver remembers: of this agent, this user and this session alone."""
    agent = ctx.agent.name if ctx.agent else ""
    key = [ctx.app_name, agent, ctx.user_id, ctx.session.id]
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def inbox_or_none(ctx: InvocationContext) -> A2AInbox | None:
    try:
        return inbox_of(ctx)
    except LookupError:
        return None


def is_whole_request(ctx: InvocationContext) -> bool:
    """Whether the agent was asked what the caller sent, not what a tool call made of it."""
    inbox = inbox_or_none(ctx)
    typed = _typed(inbox)
    return inbox is not None and bool(typed) and set(typed) <= set(_texts(user_content(ctx)))


def text_of_request(ctx: InvocationContext) -> str:
    """The text parts, one per line; where there are none, data parts as JSON."""
    texts = list(_texts(user_content(ctx)))
    typed = _typed(inbox_or_none(ctx))
    return "\n".join(typed if typed and set(typed) <= set(texts) else texts)


def user_content(ctx: InvocationContext) -> types.Content | None:
    """What the user said; for an agent that runs after a resumed one, what began the turn."""
    if any(_texts(ctx.user_content)):
        return ctx.user_content
    for event in reversed(ctx.session.events):
        if event.author == "user" and any(_texts(event.content)):
            return event.content
    return ctx.user_content


def _texts(content: types.Content | None) -> Iterator[str]:
    for part in (content.parts or []) if content else []:
        if part.text and not part.thought:
            yield part.text


def _typed(inbox: A2AInbox | None) -> list[str]:
    return [part.text for part in inbox.message.parts if part.text] if inbox else []
