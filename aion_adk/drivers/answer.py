"""What a framework answered, as ADK events."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from a2a.types import Message, Part, Task
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types

from aion_adk.drivers.request import is_streaming
from aion_adk.inbound import to_genai_part
from aion_adk.outbound import agent_message, data_part, to_a2a_part
from aion_adk.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.stamp import new_id

Result = (
    str
    | Part
    | types.Part
    | types.Content
    | Message
    | Task
    | A2AOutbox
    | Mapping[str, Any]
    | Iterable[object]
    | None
)
"""What user code may return: text, parts, a whole A2A reply, data, or nothing."""


def said(
    ctx: InvocationContext,
    parts: list[types.Part],
    *,
    partial: bool = False,
    branch: str | None = None,
    actions: EventActions | None = None,
    metadata: dict[str, Any] | None = None,
) -> Event:
    return Event(
        author=ctx.agent.name if ctx.agent else "",
        invocation_id=ctx.invocation_id,
        branch=branch or ctx.branch,
        content=types.Content(role="model", parts=parts) if parts else None,
        partial=partial or None,
        actions=actions or EventActions(),
        custom_metadata=metadata,
    )


class Answer:
    """One answer: chunks as they come, where the caller reads a stream, and the whole of it once.

    What genai content can hold is the event's content, which never beats an outbox. What it
    cannot, data and whole A2A messages, is written to the outbox.
    """

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._streaming = is_streaming(ctx)
        self._parts: list[Part | types.Part] = []
        self._outbox: A2AOutbox | None = None
        self._chunks: list[str] = []

    def chunk(self, text: str) -> Iterator[Event]:
        """Adds text; yields it at once where the caller reads a stream."""
        if not text:
            return
        self._chunks.append(text)
        if self._streaming:
            yield said(self._ctx, [types.Part(text=text)], partial=True)

    def add(self, result: Result) -> None:
        match result:
            case None | "":
                return
            case A2AOutbox():
                self._outbox = result
            case Message():
                self._outbox = A2AOutbox(message=result)
            case Task():
                self._outbox = A2AOutbox(task=result)
            case types.Content():
                self._add_parts(result.parts or [])
            case str() | Part() | types.Part():
                self._add_parts([result])
            case Mapping():
                self._add_parts([data_part(dict(result))])
            case Iterable():
                self._add_parts(result)
            case _:
                raise TypeError(
                    f"expected text, parts, a Message, a dict or None, got {type(result).__name__}"
                )

    def whole(self) -> Iterator[Event]:
        """The event that ends the answer; none if nothing was said."""
        self._end_text()
        outbox = self._outbox or self._outbox_of_parts()
        shown = [_genai_part(part) for part in self._parts]
        parts = [part for part in shown if part]
        if outbox is None and not parts:
            return
        actions = EventActions(state_delta={OUTBOX_KEY: outbox}) if outbox else None
        yield said(self._ctx, parts, actions=actions)

    def _add_parts(self, parts: Iterable[object]) -> None:
        self._end_text()
        for part in parts:
            match part:
                case str():
                    self._parts += [types.Part(text=part)] if part else []
                case Part() | types.Part():
                    self._parts.append(part)
                case _:
                    raise TypeError(f"expected text or a part, got {type(part).__name__}")

    def _end_text(self) -> None:
        if self._chunks:
            self._parts.append(types.Part(text="".join(self._chunks)))
            self._chunks = []

    def _outbox_of_parts(self) -> A2AOutbox | None:
        if not any(_is_a2a_only(part) for part in self._parts):
            return None
        parts = [part if isinstance(part, Part) else to_a2a_part(part) for part in self._parts]
        message = agent_message([part for part in parts if part], message_id=new_id())
        return A2AOutbox(message=message)


def _is_a2a_only(part: Part | types.Part) -> bool:
    return isinstance(part, Part) and (part.HasField("data") or part.HasField("metadata"))


def _genai_part(part: Part | types.Part) -> types.Part | None:
    return to_genai_part(part) if isinstance(part, Part) else part
