"""Which text of a stream belongs to which message, and which message repeats it."""

from collections.abc import Iterable
from dataclasses import dataclass

from a2a.types import Message

from aion_adk.front_ends.turn_events import (
    TextContent,
    TextEnded,
    TextReplaced,
    TextStarted,
    TurnEvent,
)
from aion_adk.protocol.parts import ADK_THOUGHT_SIGNATURE, is_thought
from aion_adk.protocol.structs import to_dict


def message_text(message: Message) -> str:
    """The text of a message without the thoughts in it."""
    return "".join(part.text for part in message.parts if part.text and not is_thought(part))


def thought_text(message: Message) -> str:
    return "".join(part.text for part in message.parts if is_thought(part))


def thought_signature(message: Message) -> str:
    signatures = (to_dict(part.metadata).get(ADK_THOUGHT_SIGNATURE) for part in message.parts)
    return next((str(signature) for signature in signatures if signature), "")


@dataclass(slots=True, eq=False)
class _StreamedText:
    """Consecutive text from one source, sent as the message `id`.

    `complete` means that its source has ended. The message itself stays open until something
    else begins, since a final message may still extend it.
    """

    id: str
    thought: bool
    chunks: list[str]
    open: bool = True
    complete: bool = False


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
        new = _StreamedText(f"{self._prefix}-{self._count}", thought, [text])
        self._by_source[source] = new
        self._streamed.append(new)
        self.last_id = new.id
        return [*events, TextStarted(new.id, thought), TextContent(new.id, text, thought)]

    def end_source(self, source: str) -> None:
        if known := self._by_source.pop(source, None):
            known.complete = True

    def add_message(
        self,
        message_id: str,
        text: str,
        *,
        thought: bool = False,
        signature: str = "",
        last: bool = False,
    ) -> list[TurnEvent]:
        """Ends the streamed text that a final message repeats or extends, or adds a new message."""
        streamed = [item for item in self._streamed if item.thought == thought]
        if matching := _repeated_by(text, streamed) or _extended_by(text, streamed):
            missing = text[len(_combined_text(matching)) :]
            self.last_id = matching[-1].id
            matching[-1].chunks.append(missing)
            self._streamed = [item for item in self._streamed if item not in matching]
            extension = [TextContent(self.last_id, missing, thought)] if missing else []
            return [*extension, *self._end(matching, signature)]
        self.last_id = message_id
        events = [
            *self._end(self._streamed),
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
                events.append(TextEnded(item.id, _combined_text([item]), item.thought, signature))
        return events


def _combined_text(streamed: Iterable[_StreamedText]) -> str:
    return "".join(chunk for item in streamed for chunk in item.chunks)


def _repeated_by(text: str, streamed: list[_StreamedText]) -> list[_StreamedText]:
    """The latest items that together are exactly this text, or else one item that is."""
    for start in range(len(streamed)):
        if _combined_text(streamed[start:]) == text:
            return streamed[start:]
    return [item for item in streamed if _combined_text([item]) == text][:1]


def _extended_by(text: str, streamed: list[_StreamedText]) -> list[_StreamedText]:
    """The latest items with which this text begins, if the last of them is still open."""
    if not streamed or not streamed[-1].open:
        return []
    for start in range(len(streamed)):
        if text.startswith(_combined_text(streamed[start:])):
            return streamed[start:]
    return []
