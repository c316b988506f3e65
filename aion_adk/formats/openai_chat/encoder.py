"""A turn as Chat Completions: chunks as it goes on, or one whole completion."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from a2a.types import Message, Task
from typing_extensions import override

from aion_adk.formats.encoder import Encoder
from aion_adk.formats.narration import Narrator
from aion_adk.formats.prose import BREAK, as_prose
from aion_adk.formats.said import (
    CallArguments,
    CallStarted,
    Canceled,
    Failed,
    Finished,
    Paused,
    Said,
    Shown,
    SpeechDelta,
    SpeechEnded,
    SpeechStarted,
    Started,
)
from aion_adk.formats.usage import chat_usage

Chunk = dict[str, Any]

_CHUNK = "chat.completion.chunk"


@dataclass(slots=True)
class _Waiting:
    """A text that another one keeps from being told."""

    texts: list[str] = field(default_factory=list[str])
    ended: bool = False


class ChatEncoder(Encoder):
    """Encodes one turn. Tools that the server ran itself do not show; pending calls do.

    A completion has one text: of several that stream at once the first goes on, the others
    wait for it.
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
        super().__init__(Narrator(prefix=completion_id, client_tools=client_tools))
        self._head = {"id": completion_id, "created": created, "model": model}
        self._include_usage = include_usage
        self._speaker = ""
        self._waiting: dict[str, _Waiting] = {}
        self._spoke = False
        self._shown = 0
        self._calls: dict[str, int] = {}

    @override
    def _tell(self, said: list[Said]) -> list[Chunk]:
        return [chunk for item in said for chunk in self._chunks(item)]

    def _chunks(self, said: Said) -> list[Chunk]:
        match said:
            case SpeechDelta(id, text, thought):
                return self._speak(id, text, thought=thought)
            case SpeechStarted(id, thought):
                return [] if thought else self._begin(id)
            case SpeechEnded(id, _, thought):
                return [] if thought else self._end(id)
            case CallStarted(id, name, pending=True):
                index = self._calls[id] = len(self._calls)
                function = {"name": name, "arguments": ""}
                call = {"index": index, "id": id, "type": "function", "function": function}
                return [self._chunk({"tool_calls": [call]})]
            case CallArguments(id, delta) if id in self._calls:
                call = {"index": self._calls[id], "function": {"arguments": delta}}
                return [self._chunk({"tool_calls": [call]})]
            case Shown(_, name, parts):
                return self._add(as_prose(name, parts))
            case Started():
                return [self._chunk({"role": "assistant", "content": ""})]
            case Finished(usage, cut):
                return self._stop("length" if cut else "stop", usage)
            case Paused(_, _, calls, usage):
                return self._stop("tool_calls" if calls else "stop", usage)
            case Failed(text, code):
                return [error_body(text, kind="server_error", code=code)]
            case Canceled():
                text = "The run was canceled."
                return [error_body(text, kind="server_error", code="canceled")]
            case _:
                return []

    def _begin(self, message_id: str) -> list[Chunk]:
        if self._speaker:
            self._waiting[message_id] = _Waiting()
            return []
        self._speaker = message_id
        return [self._chunk({"content": BREAK})] if self._spoke else []

    def _speak(self, message_id: str, text: str, *, thought: bool) -> list[Chunk]:
        if thought:
            return [self._chunk({"reasoning_content": text})]
        if message_id != self._speaker:
            self._waiting[message_id].texts.append(text)
            return []
        self._spoke = True
        return [self._chunk({"content": text})]

    def _end(self, message_id: str) -> list[Chunk]:
        if message_id != self._speaker:
            self._waiting[message_id].ended = True
            return []
        self._speaker = ""
        chunks: list[Chunk] = []
        while self._waiting and not self._speaker:
            following = next(iter(self._waiting))
            waited = self._waiting.pop(following)
            chunks += self._begin(following)
            chunks += self._speak(following, "".join(waited.texts), thought=False)
            if waited.ended:
                self._speaker = ""
        return chunks

    def _add(self, text: str) -> list[Chunk]:
        self._shown += 1
        message_id = f"shown:{self._shown}"
        begun = self._begin(message_id)
        return [*begun, *self._speak(message_id, text, thought=False), *self._end(message_id)]

    def _stop(self, reason: str, usage: dict[str, int]) -> list[Chunk]:
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


def error_body(
    text: str, *, kind: str, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """The envelope of every error of the OpenAI API."""
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


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
    if calls := _joined_calls(deltas):
        message["tool_calls"] = calls
    reason = next(choice["finish_reason"] for choice in choices if choice["finish_reason"])
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    head = {key: chunks[0][key] for key in ("id", "created", "model")}
    whole = {"object": "chat.completion", "choices": [choice], "usage": chunks[-1]["usage"]}
    return {**head, **whole}


def _joined_calls(deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    calls: dict[int, dict[str, Any]] = {}
    for part in (part for delta in deltas for part in delta.get("tool_calls", [])):
        if "id" in part:
            function = dict(part["function"])
            calls[part["index"]] = {"id": part["id"], "type": "function", "function": function}
        else:
            calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
    return list(calls.values())
