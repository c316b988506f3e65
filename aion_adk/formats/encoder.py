"""What the encoders of a turn have in common."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from a2a.server.events import Event
from a2a.utils.errors import A2AError

from aion_adk.errors import log_failure
from aion_adk.formats.narration import Narration
from aion_adk.formats.turn_events import TurnEvent
from aion_adk.sse import json_frame

logger = logging.getLogger(__name__)

Encoded = dict[str, Any]


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
