"""Reduces the streamed events of the mapping document to final ones.

Chunks of text are replaced by the end of their message, arguments of a tool call by its start,
repeated results by the last one. No content is lost, and compacting twice changes nothing.
"""

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from aion_adk.protocol.structs import json_object, object_of

SeedEvent = dict[str, Any]


def compact_events(events: Iterable[Mapping[str, Any]]) -> list[SeedEvent]:
    """The same conversation in final events; the input is not changed."""
    compaction = _Compaction()
    for event in events:
        compaction.add(copy.deepcopy(dict(event)))
    return compaction.result()


@dataclass(slots=True)
class _StreamedCall:
    """One tool call, its slot in the output, and every piece of its arguments in order."""

    call: dict[str, Any]
    slot: int
    started: bool = False
    pieces: list[Any] = field(default_factory=list[Any])


class _Compaction:
    """The output so far: calls and results are put into the slots of their events at the end."""

    def __init__(self) -> None:
        self._slots: list[SeedEvent | None] = []
        self._text: dict[str, tuple[int, list[str]]] = {}
        self._calls: dict[str, _StreamedCall] = {}
        self._results: dict[str, tuple[int, dict[str, Any]]] = {}

    def add(self, event: SeedEvent) -> None:
        message_id = str(event.get("messageId") or "")
        match event.get("type"):
            case "text-message-chunk":
                if message_id not in self._text:
                    self._text[message_id] = (len(self._slots), [])
                    self._slots.append({**event, "type": "text-message-end"})
                self._text[message_id][1].append(_content_of(event))
            case "text-message-end":
                slot, chunks = self._text.pop(message_id, (None, list[str]()))
                if slot is not None:
                    self._slots[slot] = None
                    _set_content(event, _content_of(event) or "".join(chunks))
                self._slots.append(event)
            case "tool-call-args" | "tool-call-start" as kind:
                slot = len(self._slots)
                rest = _without(event, "toolCall", "toolCalls")
                self._slots.append({**rest, "type": "tool-call-start"})
                for call in calls_in_event(event):
                    self._add_call(call, slot, start=kind == "tool-call-start")
            case "tool-call-result":
                self._end_text()
                slot = len(self._slots)
                self._slots.append(_without(event, "toolCallId", "result", "results"))
                for result in results_in_event(event):
                    call_id = str(result.get("toolCallId"))
                    slot_of_first = self._results.get(call_id, (slot, {}))[0]
                    self._results[call_id] = (slot_of_first, result)
            case "text-message-content" | "run-started" | "run-finished" | "run-error":
                self._end_text()
                self._slots.append(event)
            case _:
                self._slots.append(event)

    def result(self) -> list[SeedEvent]:
        self._end_text()
        calls: defaultdict[int, list[SeedEvent]] = defaultdict(list)
        for known in self._calls.values():
            arguments, complete = merge_arguments(known.pieces)
            call = {**_without(known.call, "arguments", "incomplete"), "arguments": arguments}
            calls[known.slot].append(call if complete else {**call, "incomplete": True})
        results: defaultdict[int, list[SeedEvent]] = defaultdict(list)
        for slot, result in self._results.values():
            results[slot].append(result)
        for slot, event in enumerate(self._slots):
            match event:
                case {"type": "tool-call-start"}:
                    match calls[slot]:
                        case []:
                            self._slots[slot] = self._text_of_start(event)
                        case [call]:
                            event["toolCall"] = call
                        case several:
                            event["toolCalls"] = several
                case {"type": "tool-call-result"}:
                    match results[slot]:
                        case []:
                            self._slots[slot] = None
                        case [result]:
                            event.update(result)
                        case several:
                            event["results"] = several
                case _:
                    pass
        return [event for event in self._slots if event is not None]

    def _end_text(self) -> None:
        """Puts the text of each message without an end where its first chunk was."""
        for slot, chunks in self._text.values():
            _set_content(self._slots[slot] or {}, "".join(chunks))
        self._text.clear()

    def _add_call(self, call: dict[str, Any], slot: int, *, start: bool) -> None:
        call_id = str(call.get("id"))
        known = self._calls.get(call_id)
        if known is None:
            known = self._calls[call_id] = _StreamedCall(call, slot)
        elif call_id in self._results and (known.started or not start):
            # A replay of a call that was answered.
            return
        elif start and call_id not in self._results:
            known.slot = slot
        known.started = known.started or start
        known.call.update(_without(call, "arguments", *(() if call.get("name") else ("name",))))
        if call.get("arguments") not in (None, "", {}):
            known.pieces.append(call["arguments"])

    def _text_of_start(self, event: SeedEvent) -> SeedEvent | None:
        """The text of a start whose calls are in another slot, unless it is repeated there."""
        text = event.get("content")
        others = [other for other in self._slots if other and other is not event]
        if not text or any(other.get("content") == text for other in others):
            return None
        return {"type": "text-message-end", "message": {"role": "assistant", "content": text}}


def merge_arguments(pieces: list[Any]) -> tuple[dict[str, Any] | str, bool]:
    """The arguments in the pieces, and whether they are complete.

    Objects are merged, the later one wins. Text is joined; if the result is not a JSON object, the
    last piece that is one is used, since some producers repeat what they sent before.
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    from_text: dict[str, Any] | None = None
    if texts:
        candidates = map(json_object, ["".join(texts), *reversed(texts)])
        from_text = next((found for found in candidates if found is not None), None)
    merged: dict[str, Any] = {}
    left = len(texts)
    for piece in pieces:
        if isinstance(piece, dict):
            merged = _deep_merged(merged, cast("dict[str, Any]", piece))
        elif isinstance(piece, str):
            left -= 1
            if left == 0 and from_text is not None:
                merged = _deep_merged(merged, from_text)
    if merged or from_text is not None or not texts:
        return merged, True
    return "".join(texts), False


def _deep_merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _deep_merged(cast("dict[str, Any]", before), cast("dict[str, Any]", value))
        merged[key] = value
    return merged


def calls_in_event(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of an event with one call (`toolCall`) or several (`toolCalls`)."""
    if "toolCalls" in event:
        return list(event["toolCalls"])
    return [event["toolCall"]] if "toolCall" in event else []


def results_in_event(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of an event that is one result or has several (`results`)."""
    if "results" in event:
        return list(event["results"])
    return [{"toolCallId": event.get("toolCallId"), "result": event.get("result")}]


def _content_of(event: SeedEvent) -> str:
    return str(object_of(event.get("message")).get("content") or "")


def _set_content(event: SeedEvent, content: str) -> None:
    event["message"] = {**(event.get("message") or {"role": "assistant"}), "content": content}


def _without(source: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key not in keys}
