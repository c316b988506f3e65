"""What the encoders share: frames, their base class, token counts, files and data as text."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from a2a.server.events import Event
from a2a.types import Part
from a2a.utils.errors import A2AError

from aion_adk.errors import internal_error_text
from aion_adk.front_ends.narration import Narration
from aion_adk.front_ends.turn_events import TurnEvent
from aion_adk.protocol.json_codec import json_frame
from aion_adk.protocol.structs import to_plain
from aion_adk.protocol.to_genai import mime_type_of

logger = logging.getLogger(__name__)

PARAGRAPH_BREAK = "\n\n"


class Encoder(ABC):
    """Encodes the A2A events of one turn, in order, as those of another protocol.

    The ids of streamed messages start with `prefix`. Calls of `client_tools` are answered by the
    client.
    """

    def __init__(self, *, prefix: str, client_tools: Sequence[str]) -> None:
        self._narration = Narration(prefix=prefix, client_tools=client_tools)

    def encode(self, event: Event) -> list[dict[str, Any]]:
        return self._encode(self._narration.on_event(event))

    def finish(self) -> list[dict[str, Any]]:
        """What is missing when there are no more events."""
        return self._fail("The stream ended before the task did.")

    def event_frames(self, event: Event) -> list[str]:
        return [self._frame(item) for item in self.encode(event)]

    def end_frames(self) -> list[str]:
        return [self._frame(item) for item in self.finish()]

    def error_frames(self, error: Exception) -> list[str]:
        return [self._frame(item) for item in self._fail(text_for_caller(error))]

    def _fail(self, text: str) -> list[dict[str, Any]]:
        return self._encode(self._narration.fail(text, "stream_incomplete"))

    def _encode(self, events: Sequence[TurnEvent]) -> list[dict[str, Any]]:
        return [item for event in events for item in self._items(event)]

    @abstractmethod
    def _items(self, event: TurnEvent) -> list[dict[str, Any]]:
        """What is sent for one event of the turn."""

    def _frame(self, item: Mapping[str, Any]) -> str:
        return json_frame(item)


def text_for_caller(error: Exception) -> str:
    """The text of an error that is meant for callers; for any other the id of its log entry."""
    if isinstance(error, A2AError):
        return str(error)
    return internal_error_text(logger, "request failed", error)


def openai_error(
    text: str, *, kind: str, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """The envelope of every error of the OpenAI API."""
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


class TokenCounts(NamedTuple):
    """Gemini's token counts as AG-UI and OpenAI count: thoughts are part of the output."""

    input: int
    output: int
    total: int
    thoughts: int
    cached: int


def token_counts(usage: Mapping[str, int]) -> TokenCounts:
    thoughts = usage.get("thoughts_token_count", 0)
    prompt = usage.get("prompt_token_count", 0) + usage.get("tool_use_prompt_token_count", 0)
    output = usage.get("candidates_token_count", 0) + thoughts
    total = usage.get("total_token_count") or prompt + output
    return TokenCounts(prompt, output, total, thoughts, usage.get("cached_content_token_count", 0))


def parts_as_text(name: str, parts: Iterable[Part]) -> str:
    """The parts of an artifact called `name` for a protocol that has only text."""
    return PARAGRAPH_BREAK.join(_part_as_text(name, part) for part in parts)


def _part_as_text(name: str, part: Part) -> str:
    label = part.filename or name
    match part.WhichOneof("content"):
        case "url":
            return f"[{label or part.url}]({part.url})"
        case "data":
            data = json.dumps(to_plain(part.data), ensure_ascii=False, indent=2)
            return f"```json\n{data}\n```"
        case "raw":
            prefix = f"{label}, " if label else ""
            return f"[file: {prefix}{mime_type_of(part)}, {len(part.raw)} bytes]"
        case _:
            return part.text
