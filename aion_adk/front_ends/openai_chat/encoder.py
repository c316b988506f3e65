"""A turn as Chat Completions: streamed in chunks, or as one completion."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from a2a.types import Message, Task
from typing_extensions import override

from aion_adk.front_ends import turn_events as turn
from aion_adk.front_ends.encoder import (
    PARAGRAPH_BREAK,
    Encoder,
    openai_error,
    parts_as_text,
    token_counts,
)

Chunk = dict[str, Any]

_DONE = "data: [DONE]\n\n"


@dataclass(slots=True)
class _QueuedText:
    """A text message that streams while another one is sent."""

    chunks: list[str] = field(default_factory=list[str])
    ended: bool = False


class ChatEncoder(Encoder):
    """Encodes one turn, with its pending calls and without those that the server ran itself.

    A completion has one text: of several messages that stream at once, the first is sent and the
    others are queued until it ends.
    """

    def __init__(
        self,
        *,
        completion_id: str,
        model: str,
        created: int,
        include_usage: bool = False,
        client_tools: Sequence[str] = (),
    ) -> None:
        super().__init__(prefix=completion_id, client_tools=client_tools)
        self._head = {"id": completion_id, "created": created, "model": model}
        self._include_usage = include_usage
        self._open_text = ""
        self._queued: dict[str, _QueuedText] = {}
        self._has_text = False
        self._artifacts = 0
        self._calls: dict[str, int] = {}
        self._usage: dict[str, Any] = {}

    @override
    def end_frames(self) -> list[str]:
        return [*super().end_frames(), _DONE]

    @override
    def error_frames(self, error: Exception) -> list[str]:
        return [*super().error_frames(error), _DONE]

    def completion(self, answer: Task | Message) -> dict[str, Any]:
        """The completion, or the error body of a turn that failed."""
        chunks = self.encode(answer) + self.finish()
        if failed := [chunk for chunk in chunks if "error" in chunk]:
            return failed[0]
        choices = [choice for chunk in chunks for choice in chunk["choices"]]
        deltas = [choice["delta"] for choice in choices]
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(delta.get("content", "") for delta in deltas) or None,
            "refusal": None,
        }
        if reasoning := "".join(delta.get("reasoning_content", "") for delta in deltas):
            message["reasoning_content"] = reasoning
        calls: list[dict[str, Any]] = []
        for part in (part for delta in deltas for part in delta.get("tool_calls", [])):
            index = part.pop("index")
            if "id" in part:
                calls.append(part)
            else:
                calls[index]["function"]["arguments"] += part["function"]["arguments"]
        if calls:
            message["tool_calls"] = calls
        reason = next(choice["finish_reason"] for choice in choices if choice["finish_reason"])
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        fields = {"object": "chat.completion", "choices": [choice], "usage": self._usage}
        return {**self._head, **fields}

    @override
    def _items(self, event: turn.TurnEvent) -> list[Chunk]:
        match event:
            case turn.TextContent(_, text, thought=True):
                return [self._chunk({"reasoning_content": text})]
            case turn.TextContent(id, text):
                return self._add_text(id, text)
            case turn.TextStarted(id, thought=False):
                return self._start_text(id)
            case turn.TextEnded(id, thought=False):
                return self._end_text(id)
            case turn.ToolCallStarted(id, name, pending=True):
                index = self._calls[id] = len(self._calls)
                function = {"name": name, "arguments": ""}
                call = {"index": index, "id": id, "type": "function", "function": function}
                return [self._chunk({"tool_calls": [call]})]
            case turn.ToolCallArguments(id, delta) if id in self._calls:
                call = {"index": self._calls[id], "function": {"arguments": delta}}
                return [self._chunk({"tool_calls": [call]})]
            case turn.ArtifactUpdated(_, name, parts):
                self._artifacts += 1
                id, text = f"artifact:{self._artifacts}", parts_as_text(name, parts)
                started = self._start_text(id)
                return [*started, *self._add_text(id, text), *self._end_text(id)]
            case turn.RunStarted():
                return [self._chunk({"role": "assistant", "content": ""})]
            case turn.RunFinished(usage, truncated):
                return self._finish("length" if truncated else "stop", usage)
            case turn.RunPaused(calls=calls, usage=usage):
                return self._finish("tool_calls" if calls else "stop", usage)
            case turn.RunFailed(text, code) | turn.RunCanceled(text, code):
                return [openai_error(text, kind="server_error", code=code)]
            case _:
                return []

    def _start_text(self, message_id: str) -> list[Chunk]:
        if self._open_text:
            self._queued[message_id] = _QueuedText()
            return []
        self._open_text = message_id
        return [self._chunk({"content": PARAGRAPH_BREAK})] if self._has_text else []

    def _add_text(self, message_id: str, text: str) -> list[Chunk]:
        if message_id != self._open_text:
            self._queued[message_id].chunks.append(text)
            return []
        self._has_text = True
        return [self._chunk({"content": text})]

    def _end_text(self, message_id: str) -> list[Chunk]:
        if message_id != self._open_text:
            self._queued[message_id].ended = True
            return []
        self._open_text = ""
        chunks: list[Chunk] = []
        while self._queued and not self._open_text:
            following = next(iter(self._queued))
            queued = self._queued.pop(following)
            chunks += self._start_text(following)
            chunks += self._add_text(following, "".join(queued.chunks))
            if queued.ended:
                self._open_text = ""
        return chunks

    def _finish(self, reason: str, usage: dict[str, int]) -> list[Chunk]:
        tokens = token_counts(usage)
        self._usage = {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.total,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
            "completion_tokens_details": {"reasoning_tokens": tokens.thoughts},
        }
        chunks = [self._chunk({}, finish_reason=reason)]
        if self._include_usage:
            chunks.append({**chunks[0], "choices": [], "usage": self._usage})
        return chunks

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}
