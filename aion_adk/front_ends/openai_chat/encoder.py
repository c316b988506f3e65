"""A turn as Chat Completions: chunks as it goes on, or one whole completion."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from a2a.types import Message, Task
from typing_extensions import override

from aion_adk.front_ends.encoder import BREAK, Encoder, as_prose, chat_usage, openai_error
from aion_adk.front_ends.narration import Narration
from aion_adk.front_ends.turn_events import (
    ArtifactShown,
    RunCanceled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    TextContent,
    TextEnded,
    TextStarted,
    ToolCallArguments,
    ToolCallStarted,
    TurnEvent,
)

Chunk = dict[str, Any]

_CHUNK = "chat.completion.chunk"
_DONE = "data: [DONE]\n\n"


@dataclass(slots=True)
class _QueuedText:
    """A text message that streams while another one is being sent."""

    chunks: list[str] = field(default_factory=list[str])
    ended: bool = False


class ChatEncoder(Encoder):
    """Encodes one turn. Tools that the server ran itself are left out; pending calls are shown.

    A completion has one text: of several messages that stream at once the first goes on, the
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
        super().__init__(Narration(prefix=completion_id, client_tools=client_tools))
        self._head = {"id": completion_id, "created": created, "model": model}
        self._include_usage = include_usage
        self._open_text = ""
        self._queued: dict[str, _QueuedText] = {}
        self._has_text = False
        self._artifacts = 0
        self._calls: dict[str, int] = {}

    @override
    def end_frames(self) -> list[str]:
        return [*super().end_frames(), _DONE]

    @override
    def error_frames(self, error: Exception) -> list[str]:
        return [*super().error_frames(error), _DONE]

    @override
    def _encode(self, events: Sequence[TurnEvent]) -> list[Chunk]:
        return [chunk for event in events for chunk in self._chunks(event)]

    def _chunks(self, event: TurnEvent) -> list[Chunk]:
        match event:
            case TextContent(_, text, thought=True):
                return [self._chunk({"reasoning_content": text})]
            case TextContent(id, text):
                return self._add_text(id, text)
            case TextStarted(id, thought=False):
                return self._start_text(id)
            case TextEnded(id, thought=False):
                return self._end_text(id)
            case ToolCallStarted(id, name, pending=True):
                index = self._calls[id] = len(self._calls)
                function = {"name": name, "arguments": ""}
                call = {"index": index, "id": id, "type": "function", "function": function}
                return [self._chunk({"tool_calls": [call]})]
            case ToolCallArguments(id, delta) if id in self._calls:
                call = {"index": self._calls[id], "function": {"arguments": delta}}
                return [self._chunk({"tool_calls": [call]})]
            case ArtifactShown(_, name, parts):
                self._artifacts += 1
                id = f"shown:{self._artifacts}"
                begun = self._start_text(id)
                return [*begun, *self._add_text(id, as_prose(name, parts)), *self._end_text(id)]
            case RunStarted():
                return [self._chunk({"role": "assistant", "content": ""})]
            case RunFinished(usage, truncated):
                return self._finish("length" if truncated else "stop", usage)
            case RunPaused(calls=calls, usage=usage):
                return self._finish("tool_calls" if calls else "stop", usage)
            case RunFailed(text, code):
                return [openai_error(text, kind="server_error", code=code)]
            case RunCanceled():
                text = "The run was canceled."
                return [openai_error(text, kind="server_error", code="canceled")]
            case _:
                return []

    def _start_text(self, message_id: str) -> list[Chunk]:
        if self._open_text:
            self._queued[message_id] = _QueuedText()
            return []
        self._open_text = message_id
        return [self._chunk({"content": BREAK})] if self._has_text else []

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
        chunks = [self._chunk({}, finish_reason=reason)]
        if self._include_usage:
            counted = {"usage": chat_usage(usage)}
            chunks.append({**self._head, "object": _CHUNK, "choices": [], **counted})
        return chunks

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {**self._head, "object": _CHUNK, "choices": [choice]}


def completion_of(
    answer: Task | Message,
    *,
    completion_id: str,
    model: str,
    created: int,
    client_tools: Sequence[str] = (),
) -> dict[str, Any]:
    """A whole completion, or the error body of a turn that failed."""
    encoder = ChatEncoder(
        completion_id=completion_id,
        model=model,
        created=created,
        include_usage=True,
        client_tools=client_tools,
    )
    chunks = encoder.encode(answer) + encoder.finish()
    failed = [chunk for chunk in chunks if "error" in chunk]
    return failed[0] if failed else _joined(chunks)


def _joined(chunks: list[Chunk]) -> dict[str, Any]:
    """The completion that a client makes of the chunks."""
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    deltas = [choice["delta"] for choice in choices]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(delta.get("content", "") for delta in deltas) or None,
        "refusal": None,
    }
    if reasoning := "".join(delta.get("reasoning_content", "") for delta in deltas):
        message["reasoning_content"] = reasoning
    calls: dict[int, dict[str, Any]] = {}
    for part in (part for delta in deltas for part in delta.get("tool_calls", [])):
        if "id" in part:
            function = dict(part["function"])
            calls[part["index"]] = {"id": part["id"], "type": "function", "function": function}
        else:
            calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
    if calls:
        message["tool_calls"] = list(calls.values())
    reason = next(choice["finish_reason"] for choice in choices if choice["finish_reason"])
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    head = {key: chunks[0][key] for key in ("id", "created", "model")}
    whole = {"object": "chat.completion", "choices": [choice], "usage": chunks[-1]["usage"]}
    return {**head, **whole}
