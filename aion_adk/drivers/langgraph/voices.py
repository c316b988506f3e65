"""The messages of a graph as they are spoken: partial text, then each message whole."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from aion_adk.drivers.answer import said
from aion_adk.drivers.messages import parts_of
from aion_adk.drivers.request import is_streaming
from aion_adk.outbound import MESSAGE_ID

NODE = "langgraph_node"


@dataclass(slots=True)
class _Voice:
    """One message in flight."""

    branch: str | None
    metadata: dict[str, Any]
    chunks: list[str] = field(default_factory=list[str])
    others: list[types.Part] = field(default_factory=list[types.Part])

    def parts(self) -> list[types.Part]:
        text = "".join(self.chunks)
        return [*self.others, *([types.Part(text=text)] if text else [])]


class Voices:
    """Messages that overlap, of nodes that run side by side, get a branch each so that their
    streams never mix."""

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._streaming = is_streaming(ctx)
        self._open: dict[str, _Voice] = {}
        self._overlapping = 0
        self.last_id: str | None = None

    def hear(self, message: BaseMessage, metadata: Mapping[str, Any]) -> Iterator[Event]:
        if not isinstance(message, AIMessage):
            return
        message_id = message.id or ""
        voice = self._open.get(message_id)
        if voice is None:
            voice = self._open[message_id] = self._new_voice(message_id, metadata)
        yield from self._speak(voice, message)
        if not isinstance(message, AIMessageChunk) or message.chunk_position == "last":
            yield from self._end(message_id)

    def end_all(self) -> Iterator[Event]:
        for message_id in list(self._open):
            yield from self._end(message_id)

    def _new_voice(self, message_id: str, metadata: Mapping[str, Any]) -> _Voice:
        node = metadata.get(NODE, "")
        branch = self._ctx.branch
        if self._open:
            self._overlapping += 1
            own = f"{self._ctx.agent.name if self._ctx.agent else ''}.{node}_{self._overlapping}"
            branch = f"{branch}.{own}" if branch else own
        return _Voice(branch, {NODE: node, MESSAGE_ID: message_id})

    def _speak(self, voice: _Voice, message: AIMessage) -> Iterator[Event]:
        content = message.content
        if isinstance(content, str):
            text = content
        else:
            parts = parts_of(message)
            text = "".join(part.text for part in parts if part.text and not part.thought)
            voice.others += [part for part in parts if not part.text or part.thought]
        if not text:
            return
        voice.chunks.append(text)
        if self._streaming:
            yield said(
                self._ctx,
                [types.Part(text=text)],
                partial=True,
                branch=voice.branch,
                metadata=voice.metadata,
            )

    def _end(self, message_id: str) -> Iterator[Event]:
        voice = self._open.pop(message_id)
        if parts := voice.parts():
            self.last_id = message_id
            yield said(self._ctx, parts, branch=voice.branch, metadata=voice.metadata)
