"""What the encoders of a turn share: their base, files and data as text, token counts."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from a2a.server.events import Event
from a2a.types import Part
from a2a.utils.errors import A2AError

from aion_adk.errors import log_failure
from aion_adk.front_ends.narration import Narration
from aion_adk.front_ends.turn_events import TurnEvent
from aion_adk.protocol.json_codec import frame
from aion_adk.protocol.structs import to_plain
from aion_adk.protocol.to_genai import mime_type_of

logger = logging.getLogger(__name__)

Encoded = dict[str, Any]


_encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def json_frame(data: Mapping[str, Any], *, event: str = "") -> str:
    return frame(_encode_json(data), event=event)


class Encoder(ABC):
    """Turns the A2A events of one turn, in order, into those of another protocol."""

    def __init__(self, narration: Narration) -> None:
        self._narration = narration

    def encode(self, event: Event) -> list[Encoded]:
        return self._encode(self._narration.on_event(event))

    def finish(self) -> list[Encoded]:
        """What is missing when there are no more events."""
        return self.fail("The stream ended before the task did.", code="stream_incomplete")

    def fail(self, text: str, *, code: str) -> list[Encoded]:
        """The end of a turn that broke outside its task."""
        return self._encode(self._narration.fail(text, code))

    def event_frames(self, event: Event) -> list[str]:
        return [self._frame(item) for item in self.encode(event)]

    def end_frames(self) -> list[str]:
        return [self._frame(item) for item in self.finish()]

    def error_frames(self, error: Exception) -> list[str]:
        ended = self.fail(text_for_caller(error), code="stream_incomplete")
        return [self._frame(item) for item in ended]

    @abstractmethod
    def _encode(self, events: Sequence[TurnEvent]) -> list[Encoded]: ...

    def _frame(self, item: Encoded) -> str:
        return json_frame(item)


def text_for_caller(error: Exception) -> str:
    """The text of an error that is meant for callers; for any other an id that the log has."""
    if isinstance(error, A2AError):
        return str(error)
    return f"Internal error. Error id: {log_failure(logger, 'request failed', error)}"


def openai_error(
    text: str, *, kind: str, code: str | None = None, param: str | None = None
) -> Encoded:
    """The envelope of every error of the OpenAI API."""
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


class _Tokens(NamedTuple):
    prompt: int
    answer: int
    total: int
    thinking: int
    cached: int


def agui_usage(usage: dict[str, int]) -> list[dict[str, int]]:
    tokens = _tokens(usage)
    counted = {
        "inputTokens": tokens.prompt,
        "outputTokens": tokens.answer,
        "totalTokens": tokens.total,
    }
    if tokens.thinking:
        counted["reasoningTokens"] = tokens.thinking
    if tokens.cached:
        counted["cachedInputTokens"] = tokens.cached
    return [counted]


def chat_usage(usage: dict[str, int]) -> dict[str, Any]:
    tokens = _tokens(usage)
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.answer,
        "total_tokens": tokens.total,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.thinking},
    }


def responses_usage(usage: dict[str, int]) -> dict[str, Any]:
    tokens = _tokens(usage)
    # openai 3.x requires cache_write_tokens, 2.x accepts it.
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
        "output_tokens": tokens.answer,
        "output_tokens_details": {"reasoning_tokens": tokens.thinking},
        "total_tokens": tokens.total,
    }


def _tokens(usage: dict[str, int]) -> _Tokens:
    thinking = usage.get("thoughts_token_count", 0)
    prompt = usage.get("prompt_token_count", 0) + usage.get("tool_use_prompt_token_count", 0)
    answer = usage.get("candidates_token_count", 0) + thinking
    return _Tokens(
        prompt=prompt,
        answer=answer,
        total=usage.get("total_token_count") or prompt + answer,
        thinking=thinking,
        cached=usage.get("cached_content_token_count", 0),
    )


BREAK = "\n\n"
"""Separates messages that a front end has to show as one."""


def as_prose(name: str, parts: Iterable[Part]) -> str:
    return BREAK.join(_part_as_prose(name, part) for part in parts)


def _part_as_prose(name: str, part: Part) -> str:
    label = part.filename or name
    match part.WhichOneof("content"):
        case "url":
            return f"[{label or part.url}]({part.url})"
        case "data":
            shown = json.dumps(to_plain(part.data), ensure_ascii=False, indent=2)
            return f"```json\n{shown}\n```"
        case "raw":
            what = f"{label}, " if label else ""
            return f"[file: {what}{mime_type_of(part)}, {len(part.raw)} bytes]"
        case _:
            return part.text
