"""Which text of a stream belongs to which message, and which message repeats it."""

from collections.abc import Iterable

from a2a.types import Message

from aion_adk.front_ends.turn_events import (
    TextContent,
    TextEnded,
    TextReplaced,
    TextStarted,
    TurnEvent,
)
from aion_adk.protocol.parts import is_thought
from aion_adk.protocol.structs import to_dict

_SIGNATURE = "adk_thought_signature"


def message_text(message: Message) -> str:
    """The text of a message without the thoughts in it."""
    return "".join(part.text for part in message.parts if part.text and not is_thought(part))


def thought_text(message: Message) -> str:
    return "".join(part.text for part in message.parts if is_thought(part))


class _StreamedText:
    """One stretch of text from one source, shown as the message `id`.

    `complete` means that its source has ended: the message ends when the next thing begins, since
    a final message may still extend it.
    """

    __slots__ = ("chunks", "complete", "id", "open", "thought")

    def __init__(self, message_id: str, *, thought: bool) -> None:
        self.id = message_id
        self.thought = thought
        self.chunks: list[str] = []
        self.open = True
        self.complete = False


class SpeechTracker:
    """The text that streamed and that no final message has repeated yet.

    A source is an artifact or a message whose chunks stream; several may stream at once.
    """

    def __init__(self, *, prefix: str) -> None:
        self.last_id = ""
        self._prefix = prefix
        self._count = 0
        self._streamed: list[_StreamedText] = []
        self._by_source: dict[str, _StreamedText] = {}

    def add_delta(self, source: str, text: str, *, thought: bool = False) -> list[TurnEvent]:
        if not text:
            return []
        known = self._by_source.get(source)
        if known is not None and known.open:
            known.chunks.append(text)
            return [TextContent(known.id, text, known.thought)]
        ended = self._streamed if thought else [item for item in self._streamed if item.complete]
        events = self._end(ended)
        self._count += 1
        new = _StreamedText(f"{self._prefix}-{self._count}", thought=thought)
        new.chunks.append(text)
        self._by_source[source] = new
        self._streamed.append(new)
        self.last_id = new.id
        return [*events, TextStarted(new.id, thought), TextContent(new.id, text, thought)]

    def end_source(self, source: str) -> None:
        if known := self._by_source.pop(source, None):
            known.complete = True

    def add_message(
        self, message: Message, message_id: str, text: str, *, thought: bool, last: bool
    ) -> list[TurnEvent]:
        """The text of a final message: the end of what it repeats, the rest of what it extends,
        or a message of its own."""
        signature = _signature_of(message) if thought else ""
        streamed = [item for item in self._streamed if item.thought == thought]
        if matching := _repeated_by(text, streamed) or _extended_by(text, streamed):
            missing = text[len(_joined(matching)) :]
            self.last_id = matching[-1].id
            matching[-1].chunks.append(missing)
            self._streamed = [item for item in self._streamed if item not in matching]
            extension = [TextContent(self.last_id, missing, thought)] if missing else []
            return [*extension, *self._end(matching, signature)]
        events = self._end(self._streamed)
        self.last_id = message_id
        events += [
            TextStarted(message_id, thought),
            TextContent(message_id, text, thought),
            TextEnded(message_id, text, thought, signature),
        ]
        if last and streamed:
            events.append(TextReplaced([item.id for item in streamed]))
        return events

    def end_all(self) -> list[TurnEvent]:
        return self._end(self._streamed)

    def _end(self, ended: Iterable[_StreamedText], signature: str = "") -> list[TurnEvent]:
        events: list[TurnEvent] = []
        for item in ended:
            if item.open:
                item.open = False
                events.append(TextEnded(item.id, _joined([item]), item.thought, signature))
        return events


def _joined(streamed: Iterable[_StreamedText]) -> str:
    return "".join(chunk for item in streamed for chunk in item.chunks)


def _repeated_by(text: str, streamed: list[_StreamedText]) -> list[_StreamedText]:
    """Everything from some point on that is this text when joined, or else one item that is."""
    for start in range(len(streamed)):
        if _joined(streamed[start:]) == text:
            return streamed[start:]
    return [item for item in streamed if _joined([item]) == text][:1]


def _extended_by(text: str, streamed: list[_StreamedText]) -> list[_StreamedText]:
    if not streamed or not streamed[-1].open:
        return []
    for start in range(len(streamed)):
        if text.startswith(_joined(streamed[start:])):
            return streamed[start:]
    return []


def _signature_of(message: Message) -> str:
    signatures = (to_dict(part.metadata).get(_SIGNATURE) for part in message.parts)
    return next((str(signature) for signature in signatures if signature), "")
