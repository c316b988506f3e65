"""The answer of a framework as ADK events."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from a2a.types import Message, Part, Task
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types

from aion_adk.context.emit import MessageContent
from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.drivers.inputs import is_streaming
from aion_adk.protocol.from_genai import agent_message, data_part, to_a2a_part
from aion_adk.protocol.to_genai import to_genai_part

Result = MessageContent | Task | A2AOutbox | Mapping[str, Any] | None
"""What user code may return: text, parts, a whole A2A reply, data, or nothing."""


def agent_event(
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


class DriverAnswer:
    """Collects one answer: partial events while it is streamed, then one event with all of it.

    What genai content can hold becomes the event's content, which never beats an outbox. What
    it cannot hold, data and whole A2A messages, is written to the outbox.
    """

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._parts: list[Part | types.Part] = []
        self._outbox: A2AOutbox | None = None
        self._chunks: list[str] = []

    def add_chunk(self, text: str) -> list[Event]:
        """Adds text; returns it as a partial event if the caller reads a stream."""
        if not text:
            return []
        self._chunks.append(text)
        if not is_streaming(self._ctx):
            return []
        return [agent_event(self._ctx, [types.Part(text=text)], partial=True)]

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
                self._add_parts([data_part(dict(cast(Mapping[str, Any], result)))])
            case Iterable():
                self._add_parts(result)
            case _:
                raise TypeError(
                    f"expected text, parts, a Message, a dict or None, got {type(result).__name__}"
                )

    def final_events(self) -> list[Event]:
        """The event with the whole answer; none if the answer is empty."""
        self._join_chunks()
        outbox = self._outbox
        if outbox is None and any(
            isinstance(part, Part) and (part.HasField("data") or part.HasField("metadata"))
            for part in self._parts
        ):
            kept = [part if isinstance(part, Part) else to_a2a_part(part) for part in self._parts]
            message = agent_message([part for part in kept if part])
            outbox = A2AOutbox(message=message)
        shown = [to_genai_part(part) if isinstance(part, Part) else part for part in self._parts]
        parts = [part for part in shown if part]
        if outbox is None and not parts:
            return []
        actions = EventActions(state_delta={OUTBOX_KEY: outbox}) if outbox else None
        return [agent_event(self._ctx, parts, actions=actions)]

    def _add_parts(self, parts: Iterable[object]) -> None:
        self._join_chunks()
        for part in parts:
            match part:
                case str():
                    self._parts += [types.Part(text=part)] if part else []
                case Part() | types.Part():
                    self._parts.append(part)
                case _:
                    raise TypeError(f"expected text or a part, got {type(part).__name__}")

    def _join_chunks(self) -> None:
        if self._chunks:
            self._parts.append(types.Part(text="".join(self._chunks)))
            self._chunks = []
