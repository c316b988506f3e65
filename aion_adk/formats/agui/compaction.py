"""A recorded AG-UI stream without its streaming: what a client makes of it stays the same.

Each message and each tool call becomes one start, one delta and one end, where it began. Other
events keep their order. What is open when a run ends is ended before it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aion_adk.formats.agui.chunks import expand_chunks
from aion_adk.formats.agui.patch import PatchError, apply_patch

AGUIEvent = dict[str, Any]

_STARTS = {
    "TEXT_MESSAGE_START": ("TEXT_MESSAGE", "messageId"),
    "REASONING_MESSAGE_START": ("REASONING_MESSAGE", "messageId"),
    "TOOL_CALL_START": ("TOOL_CALL", "toolCallId"),
}
_DELTAS = {
    "TEXT_MESSAGE_CONTENT": ("TEXT_MESSAGE", "messageId"),
    "REASONING_MESSAGE_CONTENT": ("REASONING_MESSAGE", "messageId"),
    "TOOL_CALL_ARGS": ("TOOL_CALL", "toolCallId"),
}
_ENDS = {
    "TEXT_MESSAGE_END": ("TEXT_MESSAGE", "messageId"),
    "REASONING_MESSAGE_END": ("REASONING_MESSAGE", "messageId"),
    "TOOL_CALL_END": ("TOOL_CALL", "toolCallId"),
}
_RUN_BOUNDARIES = ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR")
_STATE = ("STATE_SNAPSHOT", "STATE_DELTA")


def compact_agui_events(events: Iterable[Mapping[str, Any]]) -> list[AGUIEvent]:
    compaction = _Compaction()
    for event in expand_chunks(events):
        compaction.take(event)
    return compaction.result()


class _Stream:
    """A message or a call between its start and its end."""

    def __init__(self, kind: str, id_field: str, stream_id: str) -> None:
        self._kind = kind
        self._id = {id_field: stream_id}
        self._start: AGUIEvent | None = None
        self._deltas: list[str] = []
        self._metadata: dict[str, Any] = {}
        self.end: AGUIEvent | None = None

    def start(self, event: AGUIEvent) -> None:
        """The first start, or a repeated one: its fields win, its metadata is merged in order."""
        before = (self._start or {}).get("metadata", {})
        metadata = dict(event.pop("metadata", None) or {})
        if self._deltas:
            self._metadata |= metadata
            metadata = before
        else:
            metadata = {**before, **metadata}
        self._start = {**event, "metadata": metadata} if metadata else event

    def delta(self, event: AGUIEvent) -> None:
        self._deltas.append(event.get("delta") or "")
        self._metadata |= event.get("metadata") or {}

    def events(self) -> list[AGUIEvent]:
        events = [self._start] if self._start else []
        if self._deltas:
            kind = "TOOL_CALL_ARGS" if self._kind == "TOOL_CALL" else f"{self._kind}_CONTENT"
            delta: AGUIEvent = {"type": kind, **self._id, "delta": "".join(self._deltas)}
            events.append({**delta, "metadata": self._metadata} if self._metadata else delta)
        return [*events, self.end or {"type": f"{self._kind}_END", **self._id}]


class _Compaction:
    def __init__(self) -> None:
        self._done: list[AGUIEvent | _Stream] = []
        self._open: dict[tuple[str, str], _Stream] = {}
        self._state: list[AGUIEvent] = []

    def take(self, event: AGUIEvent) -> None:
        kind = str(event.get("type"))
        if kind in _STARTS:
            self._stream(event, *_STARTS[kind]).start(event)
        elif kind in _DELTAS:
            self._stream(event, *_DELTAS[kind]).delta(event)
        elif kind in _ENDS:
            self._stream(event, *_ENDS[kind]).end = event
            prefix, id_field = _ENDS[kind]
            del self._open[prefix, str(event[id_field])]
        elif kind in _STATE:
            self._state.append(event)
        else:
            if kind in _RUN_BOUNDARIES:
                self._end_run()
            self._done.append(event)

    def result(self) -> list[AGUIEvent]:
        self._end_run()
        return [
            event
            for item in self._done
            for event in (item.events() if isinstance(item, _Stream) else [item])
        ]

    def _stream(self, event: AGUIEvent, kind: str, id_field: str) -> _Stream:
        key = (kind, str(event[id_field]))
        if key not in self._open:
            self._open[key] = _Stream(kind, id_field, key[1])
            self._done.append(self._open[key])
        return self._open[key]

    def _end_run(self) -> None:
        self._open.clear()
        self._done += _one_state(self._state)
        self._state = []


def _one_state(events: list[AGUIEvent]) -> list[AGUIEvent]:
    """One snapshot for all of them, if there is one to build on; else they stay relative."""
    snapshots = [i for i, event in enumerate(events) if event["type"] == "STATE_SNAPSHOT"]
    if not snapshots:
        return events
    state: Any = events[snapshots[-1]]["snapshot"]
    for event in events[snapshots[-1] + 1 :]:
        try:
            state = apply_patch(state, event["delta"])
        except PatchError:
            # A client warns of a patch that does not fit and goes on.
            continue
    metadata: dict[str, Any] = {}
    for event in events:
        metadata |= event.get("metadata") or {}
    snapshot: AGUIEvent = {"type": "STATE_SNAPSHOT", "snapshot": state}
    return [{**snapshot, "metadata": metadata} if metadata else snapshot]
