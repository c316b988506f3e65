"""What the encoders of a turn have in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from a2a.server.events import Event

from aion_adk.formats.narration import Narration
from aion_adk.formats.turn_events import TurnEvent

Encoded = dict[str, Any]


def openai_error(
    text: str, *, kind: str, code: str | None = None, param: str | None = None
) -> Encoded:
    """The envelope of every error of the OpenAI API."""
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


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

    @abstractmethod
    def _encode(self, events: Sequence[TurnEvent]) -> list[Encoded]: ...
