"""Who is speaking in a stream, and which message repeats what was already heard."""

from collections.abc import Iterable

from a2a.types import Message, Part

from aion_adk.formats.said import Corrected, Said, SpeechDelta, SpeechEnded, SpeechStarted
from aion_adk.parts import is_thought
from aion_adk.values import to_dict

_SIGNATURE = "adk_thought_signature"


def speech_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if _is_speech(part))


def thought_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if is_thought(part))


class _Voice:
    """One stretch of streamed text: `lane` is where it came from, `id` the message it became."""

    __slots__ = ("chunks", "id", "lane", "open", "paused", "thought")

    def __init__(self, lane: str, message_id: str, *, thought: bool) -> None:
        self.lane = lane
        self.id = message_id
        self.thought = thought
        self.chunks: list[str] = []
        self.open = True
        self.paused = False

    @property
    def text(self) -> str:
        return "".join(self.chunks)


class Voices:
    """The text that streamed since the last message that repeated some of it."""

    def __init__(self, *, prefix: str) -> None:
        self.last_id = ""
        self._prefix = prefix
        self._count = 0
        self._heard: list[_Voice] = []
        self._speaking: dict[str, _Voice] = {}

    def speak(self, lane: str, text: str, *, thought: bool = False) -> list[Said]:
        if not text:
            return []
        voice = self._speaking.get(lane)
        if voice is not None and voice.open and not voice.paused:
            voice.chunks.append(text)
            return [SpeechDelta(voice.id, text, voice.thought)]
        said = self.end_all() if thought else self._end(v for v in self._heard if v.paused)
        voice = self._speaking[lane] = _Voice(lane, self._new_id(), thought=thought)
        voice.chunks.append(text)
        self._heard.append(voice)
        self.last_id = voice.id
        return [*said, SpeechStarted(voice.id, thought), SpeechDelta(voice.id, text, thought)]

    def pause(self, lane: str) -> list[Said]:
        """The lane is over; its message ends when the next thing begins, which may complete it."""
        if voice := self._speaking.pop(lane, None):
            voice.paused = True
        return []

    def settle(
        self,
        message_id: str,
        text: str,
        *,
        message: Message,
        thought: bool = False,
        last: bool = False,
    ) -> list[Said]:
        """A durable message: the end of what it repeats, the rest of what it extends, or a new
        one."""
        signature = _signature_of(message) if thought else ""
        heard = [voice for voice in self._heard if voice.thought == thought]
        repeated = _repeated(heard, text)
        if repeated:
            self._forget(repeated)
            self.last_id = repeated[-1].id
            return self._end(repeated, signature)
        if extended := _extended(heard, text):
            missing = text[len("".join(voice.text for voice in extended)) :]
            extended[-1].chunks.append(missing)
            self._forget(extended)
            self.last_id = extended[-1].id
            delta = SpeechDelta(extended[-1].id, missing, thought)
            return [delta, *self._end(extended, signature)]
        said = self._end(self._heard)
        self.last_id = message_id
        said += [
            SpeechStarted(message_id, thought),
            SpeechDelta(message_id, text, thought),
            SpeechEnded(message_id, text, thought, signature),
        ]
        if last and heard:
            said.append(Corrected(message_id, [voice.id for voice in heard]))
        return said

    def end_all(self) -> list[Said]:
        return self._end(self._heard)

    def _end(self, voices: Iterable[_Voice], signature: str = "") -> list[Said]:
        said: list[Said] = []
        for voice in list(voices):
            if voice.open:
                voice.open = False
                said.append(SpeechEnded(voice.id, voice.text, voice.thought, signature))
        return said

    def _forget(self, voices: list[_Voice]) -> None:
        self._heard = [voice for voice in self._heard if voice not in voices]

    def _new_id(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count}"


def _repeated(heard: list[_Voice], text: str) -> list[_Voice]:
    """Everything heard from some point on, or else one voice, that says just this."""
    for start in range(len(heard)):
        if "".join(voice.text for voice in heard[start:]) == text:
            return heard[start:]
    return [voice for voice in heard if voice.text == text][:1]


def _extended(heard: list[_Voice], text: str) -> list[_Voice]:
    if not heard or not heard[-1].open:
        return []
    for start in range(len(heard)):
        if text.startswith("".join(voice.text for voice in heard[start:])):
            return heard[start:]
    return []


def _is_speech(part: Part) -> bool:
    return bool(part.text) and not is_thought(part)


def _signature_of(message: Message) -> str:
    signatures = (to_dict(part.metadata).get(_SIGNATURE) for part in message.parts)
    return next((str(signature) for signature in signatures if signature), "")
