"""The messages of a graph while it runs, as ADK events."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from aion_adk.drivers.answer import agent_event
from aion_adk.drivers.inputs import is_streaming
from aion_adk.drivers.messages import parts_of, text_of_parts
from aion_adk.outbound import MESSAGE_ID

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
            text = text_of_parts(parts)
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
