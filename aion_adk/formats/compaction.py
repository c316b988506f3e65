"""Streamed events of the mapping document reduced to final ones.

Chunks of text give way to the end they lead to, arguments of a tool call to its start, repeated
results to the last. Nothing that was said is lost, and compacting twice changes nothing.
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from aion_adk.values import json_object, object_of

SeedEvent = dict[str, Any]


def compact_events(events: Iterable[Mapping[str, Any]]) -> list[SeedEvent]:
    """The same conversation without its streaming; the input stays as it is."""
    compaction = _Compaction()
    for event in events:
        compaction.take(copy.deepcopy(dict(event)))
    return compaction.result()


@dataclass(slots=True)
class _Call:
    """One tool call: where it is shown, and every piece of its arguments in order."""

    call: dict[str, Any]
    slot: int
    started: bool = False
    pieces: list[Any] = field(default_factory=list[Any])


class _Compaction:
    def __init__(self) -> None:
        self._slots: list[SeedEvent | None] = []
        self._text: dict[str, tuple[int, list[str]]] = {}
        self._calls: dict[str, _Call] = {}
        self._results: dict[str, tuple[int, dict[str, Any]]] = {}

    def take(self, event: SeedEvent) -> None:
        match event.get("type"):
            case "text-message-chunk":
                self._take_chunk(event)
            case "text-message-end":
                self._take_end(event)
            case "tool-call-args":
                self._take_calls(event, start=False)
            case "tool-call-start":
                self._take_calls(event, start=True)
            case "tool-call-result":
                self._end_text()
                self._take_results(event)
            case "text-message-content" | "run-started" | "run-finished" | "run-error":
                self._end_text()
                self._slots.append(event)
            case _:
                self._slots.append(event)

    def result(self) -> list[SeedEvent]:
        self._end_text()
        self._place_calls()
        self._place_results()
        return [event for event in self._slots if event is not None]

    def _take_chunk(self, event: SeedEvent) -> None:
        lane = _lane(event)
        if lane not in self._text:
            self._text[lane] = (len(self._slots), [])
            self._slots.append({**event, "type": "text-message-end"})
        self._text[lane][1].append(_content(event))

    def _take_end(self, event: SeedEvent) -> None:
        slot, chunks = self._text.pop(_lane(event), (None, list[str]()))
        if slot is not None:
            self._slots[slot] = None
            message = event.get("message") or {"role": "assistant"}
            event["message"] = {**message, "content": _content(event) or "".join(chunks)}
        self._slots.append(event)

    def _end_text(self) -> None:
        """What streamed and was never ended becomes an end where its first chunk was."""
        for slot, chunks in self._text.values():
            event = self._slots[slot] or {}
            message = event.get("message") or {"role": "assistant"}
            event["message"] = {**message, "content": "".join(chunks)}
        self._text.clear()

    def _take_calls(self, event: SeedEvent, *, start: bool) -> None:
        slot = len(self._slots)
        self._slots.append({**_without(event, "toolCall", "toolCalls"), "type": "tool-call-start"})
        for call in _listed(event, "toolCall", "toolCalls"):
            self._take_call(call, slot, start=start)

    def _take_call(self, call: dict[str, Any], slot: int, *, start: bool) -> None:
        known = self._calls.get(str(call.get("id")))
        if known is None:
            known = self._calls[str(call.get("id"))] = _Call(call, slot)
        elif str(call.get("id")) in self._results and (known.started or not start):
            # A replay of a call that was answered.
            return
        elif start and str(call.get("id")) not in self._results:
            known.slot = slot
        known.started = known.started or start
        known.call.update(_without(call, "arguments", *(() if call.get("name") else ("name",))))
        if call.get("arguments") not in (None, "", {}):
            known.pieces.append(call["arguments"])

    def _take_results(self, event: SeedEvent) -> None:
        slot = len(self._slots)
        self._slots.append(_without(event, "toolCallId", "result", "results"))
        for result in _results(event):
            call_id = str(result.get("toolCallId"))
            slot_of_first = self._results.get(call_id, (slot, {}))[0]
            self._results[call_id] = (slot_of_first, result)

    def _place_calls(self) -> None:
        placed: dict[int, list[dict[str, Any]]] = {}
        for known in self._calls.values():
            placed.setdefault(known.slot, []).append(_whole_call(known))
        for slot, event in enumerate(self._slots):
            if event is None or event.get("type") != "tool-call-start":
                continue
            if slot in placed:
                event.update(_one_or_many(placed[slot], "toolCall", "toolCalls"))
            else:
                self._slots[slot] = self._said_beside(event)

    def _said_beside(self, event: SeedEvent) -> SeedEvent | None:
        """The text of a start whose calls are shown elsewhere, unless it is said there too."""
        text = event.get("content")
        others = [other for other in self._slots if other and other is not event]
        if not text or any(other.get("content") == text for other in others):
            return None
        return {"type": "text-message-end", "message": {"role": "assistant", "content": text}}

    def _place_results(self) -> None:
        placed: dict[int, list[dict[str, Any]]] = {}
        for slot, result in self._results.values():
            placed.setdefault(slot, []).append(result)
        for slot, event in enumerate(self._slots):
            if event is None or event.get("type") != "tool-call-result":
                continue
            if slot not in placed:
                self._slots[slot] = None
            elif len(placed[slot]) == 1:
                event.update(placed[slot][0])
            else:
                event["results"] = placed[slot]


def merge_arguments(pieces: list[Any]) -> tuple[dict[str, Any] | str, bool]:
    """The arguments that the pieces make, and whether they are whole.

    Objects are merged, the later one wins. Text is joined; where that is no object the last
    piece that is one stands for all, since some producers repeat what they sent before.
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    from_text = _object_in(texts)
    merged: dict[str, Any] = {}
    left = len(texts)
    for piece in pieces:
        if isinstance(piece, dict):
            merged = _deep(merged, cast("dict[str, Any]", piece))
        elif isinstance(piece, str):
            left -= 1
            if left == 0 and from_text is not None:
                merged = _deep(merged, from_text)
    if merged or from_text is not None or not texts:
        return merged, True
    return "".join(texts), False


def _whole_call(known: _Call) -> dict[str, Any]:
    arguments, whole = merge_arguments(known.pieces)
    call = {**_without(known.call, "arguments", "incomplete"), "arguments": arguments}
    return call if whole else {**call, "incomplete": True}


def _object_in(texts: list[str]) -> dict[str, Any] | None:
    joined = json_object("".join(texts)) if texts else None
    if joined is not None:
        return joined
    objects = map(json_object, reversed(texts))
    return next((found for found in objects if found is not None), None)


def _deep(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _deep(cast("dict[str, Any]", before), cast("dict[str, Any]", value))
        merged[key] = value
    return merged


def _lane(event: SeedEvent) -> str:
    return str(event.get("messageId") or "")


def _content(event: SeedEvent) -> str:
    return str(object_of(event.get("message")).get("content") or "")


def _listed(event: SeedEvent, one: str, many: str) -> list[dict[str, Any]]:
    if many in event:
        return list(event[many])
    return [event[one]] if one in event else []


def _results(event: SeedEvent) -> list[dict[str, Any]]:
    if "results" in event:
        return list(event["results"])
    return [{"toolCallId": event.get("toolCallId"), "result": event.get("result")}]


def _one_or_many(items: list[dict[str, Any]], one: str, many: str) -> dict[str, Any]:
    return {one: items[0]} if len(items) == 1 else {many: items}


def _without(source: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key not in keys}
