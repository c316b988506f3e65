"""One run of a graph: its stream as ADK events, message by message, then its answer."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langgraph.types import Interrupt

from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.drivers.answer import DriverAnswer, agent_event
from aion_adk.drivers.driver import DriverItem
from aion_adk.drivers.inputs import is_streaming
from aion_adk.drivers.langchain_messages import parts_of, tool_parts
from aion_adk.drivers.langgraph.context import Emission
from aion_adk.drivers.langgraph.state import agent_messages_in, last_answer, mapping_of, messages_in
from aion_adk.protocol.from_genai import MESSAGE_ID, texts_in
from aion_adk.protocol.to_genai import to_genai_part

NODE = "langgraph_node"


@dataclass(slots=True)
class _OpenMessage:
    branch: str | None
    metadata: dict[str, Any]
    chunks: list[str] = field(default_factory=list[str])
    other_parts: list[types.Part] = field(default_factory=list[types.Part])


class MessageStreams:
    """Streams the messages of a graph as partial text, then each message whole.

    Messages of nodes that run in parallel get a branch each, so that their streams never mix.
    """

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._streaming = is_streaming(ctx)
        self._open: dict[str, _OpenMessage] = {}
        self._overlapping = 0
        self.last_id: str | None = None

    def on_message(self, message: BaseMessage, metadata: Mapping[str, Any]) -> Iterator[Event]:
        """A message or a chunk of one, with LangGraph's metadata for it."""
        if not isinstance(message, AIMessage):
            return
        message_id = message.id or ""
        current = self._open.get(message_id)
        if current is None:
            node = metadata.get(NODE, "")
            branch = self._ctx.branch
            if self._open:
                self._overlapping += 1
                agent = self._ctx.agent.name if self._ctx.agent else ""
                own = f"{agent}.{node}_{self._overlapping}"
                branch = f"{branch}.{own}" if branch else own
            current = _OpenMessage(branch, {NODE: node, MESSAGE_ID: message_id})
            self._open[message_id] = current
        if isinstance(message.content, str):
            text = message.content
        else:
            parts = parts_of(message)
            text = "".join(texts_in(parts))
            current.other_parts += [part for part in parts if not part.text or part.thought]
        if text:
            current.chunks.append(text)
            if self._streaming:
                yield agent_event(
                    self._ctx,
                    [types.Part(text=text)],
                    partial=True,
                    branch=current.branch,
                    metadata=current.metadata,
                )
        if not isinstance(message, AIMessageChunk) or message.chunk_position == "last":
            yield from self._end(message_id)

    def end_all(self) -> Iterator[Event]:
        for message_id in list(self._open):
            yield from self._end(message_id)

    def _end(self, message_id: str) -> Iterator[Event]:
        message = self._open.pop(message_id)
        text = "".join(message.chunks)
        parts = [*message.other_parts, *([types.Part(text=text)] if text else [])]
        if parts:
            self.last_id = message_id
            yield agent_event(self._ctx, parts, branch=message.branch, metadata=message.metadata)


INTERRUPT = "__interrupt__"


class GraphRun:
    """Reads what `astream` yields in the modes values, messages, custom and updates."""

    def __init__(self, ctx: InvocationContext, *, known_messages: frozenset[str]) -> None:
        self._ctx = ctx
        self._known = known_messages
        self._messages = MessageStreams(ctx)
        self._tools_seen: set[tuple[str, str | None]] = set()
        self.values: Mapping[str, Any] = {}
        self.last_node: str | None = None
        self.paused = False
        self.interrupts: list[Interrupt] = []

    def on_stream_item(
        self, namespace: tuple[str, ...], mode: str, payload: Any
    ) -> Iterable[DriverItem]:
        match mode:
            case "messages":
                message, metadata = payload
                return self._messages.on_message(message, metadata)
            case "updates":
                return self._on_updates(namespace, payload)
            case "custom":
                if isinstance(payload, Emission):
                    return (functools.partial(payload.send, self._ctx),)
            case _:
                if not namespace:
                    self.values = mapping_of(payload)
        return ()

    def final_events(self, *, outbox: A2AOutbox | None, output_key: str | None) -> Iterator[Event]:
        """Ends the open messages and yields the answer, unless it was the last of them."""
        yield from self._messages.end_all()
        if outbox is not None:
            shown = [
                part
                for message in agent_messages_in(outbox)[-1:]
                for item in message.parts
                if (part := to_genai_part(item))
            ]
            actions = EventActions(state_delta={OUTBOX_KEY: outbox})
            yield agent_event(self._ctx, shown, actions=actions)
        elif self.paused:
            return
        elif output_key is not None:
            answer = DriverAnswer(self._ctx)
            answer.add(self.values.get(output_key))
            yield from answer.final_events()
        else:
            message = last_answer(self.values, known=self._known)
            if message is not None and message.id != self._messages.last_id:
                metadata = {MESSAGE_ID: message.id}
                yield agent_event(self._ctx, parts_of(message), metadata=metadata)

    def _on_updates(
        self, namespace: tuple[str, ...], payload: Mapping[str, Any]
    ) -> Iterator[DriverItem]:
        for node, update in payload.items():
            if node == INTERRUPT:
                if not namespace:
                    self.paused = True
                    known = {interrupt.id for interrupt in self.interrupts}
                    self.interrupts += [item for item in update if item.id not in known]
                continue
            if not namespace:
                self.last_node = node
            updates = cast(list[Any], update) if isinstance(update, list) else [update]
            messages = [message for item in updates for message in messages_in(mapping_of(item))]
            if parts := self._new_tool_parts(messages):
                yield agent_event(self._ctx, parts, metadata={NODE: node})

    def _new_tool_parts(self, messages: Iterable[BaseMessage]) -> list[types.Part]:
        """Calls and results not seen before: the node that is a subgraph repeats the subgraph's."""
        new: list[types.Part] = []
        for part in tool_parts(messages):
            call, response = part.function_call, part.function_response
            key = ("call", call.id) if call else ("response", response.id if response else None)
            if key not in self._tools_seen:
                self._tools_seen.add(key)
                new.append(part)
        return new
