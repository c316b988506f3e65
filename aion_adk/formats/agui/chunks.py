"""Chunk events, which need no start and no end, as the events they stand for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

AGUIEvent = dict[str, Any]

_CHUNKS = {
    "TEXT_MESSAGE_CHUNK": ("TEXT_MESSAGE", "messageId", "CONTENT"),
    "REASONING_MESSAGE_CHUNK": ("REASONING_MESSAGE", "messageId", "CONTENT"),
    "TOOL_CALL_CHUNK": ("TOOL_CALL", "toolCallId", "ARGS"),
}
_OF_THE_START = ("role", "name", "toolCallName", "parentMessageId")


def expand_chunks(events: Iterable[Mapping[str, Any]]) -> Iterator[AGUIEvent]:
    """Copies of the events; a run of chunks is ended by whatever follows it."""
    open_kind, open_id = "", ""
    for event in events:
        kind = str(event.get("type"))
        if kind not in _CHUNKS:
            yield from _end(open_kind, open_id)
            open_kind, open_id = "", ""
            yield dict(event)
            continue
        prefix, id_field, delta_kind = _CHUNKS[kind]
        stream_id = str(event.get(id_field) or (open_id if open_kind == kind else ""))
        if (kind, stream_id) != (open_kind, open_id):
            yield from _end(open_kind, open_id)
            open_kind, open_id = kind, stream_id
            started = {key: event[key] for key in _OF_THE_START if key in event}
            if prefix != "TOOL_CALL":
                started.setdefault("role", "assistant" if prefix == "TEXT_MESSAGE" else "reasoning")
            yield {"type": f"{prefix}_START", id_field: stream_id, **started}
        if event.get("delta"):
            delta = {"type": f"{prefix}_{delta_kind}", id_field: stream_id}
            metadata = {"metadata": event["metadata"]} if event.get("metadata") else {}
            yield {**delta, "delta": event["delta"], **metadata}
    yield from _end(open_kind, open_id)


def _end(kind: str, stream_id: str) -> Iterator[AGUIEvent]:
    if kind:
        prefix, id_field, _ = _CHUNKS[kind]
        yield {"type": f"{prefix}_END", id_field: stream_id}
