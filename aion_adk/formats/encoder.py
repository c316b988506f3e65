"""What the encoders of a turn have in common: each only writes down what the narrator tells."""

from abc import ABC, abstractmethod
from typing import Any

from aion_adk.formats.narration import A2AEvent, Narrator
from aion_adk.formats.said import Said

Encoded = dict[str, Any]


class Encoder(ABC):
    """Turns the events of one A2A turn, in order, into those of another protocol."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator

    def encode(self, event: A2AEvent) -> list[Encoded]:
        return self._tell(self._narrator.hear(event))

    def finish(self) -> list[Encoded]:
        """What is missing when the stream has no more events."""
        return self._tell(self._narrator.silence())

    def fail(self, text: str, *, code: str) -> list[Encoded]:
        """The end of a run that broke outside the task."""
        return self._tell(self._narrator.fail(text, code))

    @abstractmethod
    def _tell(self, said: list[Said]) -> list[Encoded]: ...
