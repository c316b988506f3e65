"""One run of a graph: its stream as ADK events, and what is left at its end."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types
from langchain_core.messages import BaseMessage
from langgraph.types import Interrupt

from aion_adk.drivers.answer import Answer, said
from aion_adk.drivers.driver import Answered
from aion_adk.drivers.langgraph.emissions import Emission
from aion_adk.drivers.langgraph.state import (
    last_answer,
    mapping_of,
    messages_in,
    replies_of,
)
from aion_adk.drivers.langgraph.voices import NODE, Voices
from aion_adk.drivers.messages import parts_of, tool_parts
from aion_adk.inbound import to_genai_part
from aion_adk.outbound import MESSAGE_ID
from aion_adk.outbox import OUTBOX_KEY, A2AOutbox

INTERRUPT = "__interrupt__"


class GraphRun:
    """Hears what `astream` yields in the modes values, messages, custom and updates."""

    def __init__(self, ctx: InvocationContext, *, known_messages: frozenset[str]) -> None:
        self._ctx = ctx
        self._known = known_messages
        self._voices = Voices(ctx)
        self._tools_seen: set[tuple[str, str | None]] = set()
        self.values: Mapping[str, Any] = {}
        self.last_node: str | None = None
        self.paused = False
        self.interrupts: list[Interrupt] = []

    def hear(self, namespace: tuple[str, ...], mode: str, payload: Any) -> Iterable[Answered]:
        match mode:
            case "messages":
                message, metadata = payload
                return self._voices.hear(message, metadata)
            case "updates":
                return self._update(namespace, payload)
            case "custom":
                if isinstance(payload, Emission):
                    return (functools.partial(payload.send, self._ctx),)
            case _:
                if not namespace:
                    self.values = mapping_of(payload)
        return ()

    def end(self, *, outbox: A2AOutbox | None, output_key: str | None) -> Iterator[Event]:
        """Closes what is still open and yields the answer, unless it was the last thing said."""
        yield from self._voices.end_all()
        if outbox is not None:
            yield self._outbox_event(outbox)
        elif self.paused:
            return
        elif output_key is not None:
            answer = Answer(self._ctx)
            answer.add(self.values.get(output_key))
            yield from answer.whole()
        else:
            yield from self._last_answer()

    def _last_answer(self) -> Iterator[Event]:
        message = last_answer(self.values, known=self._known)
        if message is not None and message.id != self._voices.last_id:
            yield said(self._ctx, parts_of(message), metadata={MESSAGE_ID: message.id})

    def _outbox_event(self, outbox: A2AOutbox) -> Event:
        replies = replies_of(outbox)
        shown = [to_genai_part(part) for message in replies[-1:] for part in message.parts]
        actions = EventActions(state_delta={OUTBOX_KEY: outbox})
        return said(self._ctx, [part for part in shown if part], actions=actions)

    def _update(self, namespace: tuple[str, ...], payload: Mapping[str, Any]) -> Iterator[Answered]:
        for node, update in payload.items():
            if node == INTERRUPT:
                self._pause(namespace, update)
                continue
            if not namespace:
                self.last_node = node
            if parts := self._new_tool_parts(_messages_of_update(update)):
                yield said(self._ctx, parts, metadata={NODE: node})

    def _pause(self, namespace: tuple[str, ...], interrupts: Iterable[Interrupt]) -> None:
        if not namespace:
            self.paused = True
            known = {interrupt.id for interrupt in self.interrupts}
            self.interrupts += [item for item in interrupts if item.id not in known]

    def _new_tool_parts(self, messages: Iterable[BaseMessage]) -> list[types.Part]:
        """Calls and results not seen before: a subgraph's come again from the node it is."""
        new: list[types.Part] = []
        for part in tool_parts(messages):
            call, response = part.function_call, part.function_response
            key = (
                ("call", call.id or "") if call else ("response", (response and response.id) or "")
            )
            if key not in self._tools_seen:
                self._tools_seen.add(key)
                new.append(part)
        return new


def _messages_of_update(update: Any) -> list[BaseMessage]:
    updates = cast(list[Any], update) if isinstance(update, list) else [update]
    return [message for item in updates for message in messages_in(mapping_of(item))]
