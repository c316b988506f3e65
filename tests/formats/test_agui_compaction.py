"""Recorded AG-UI streams: compaction keeps what a client makes of them."""

import asyncio
import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import Event as ProtocolEvent
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from aion_adk.formats.agui.compaction import compact_agui_events
from aion_adk.formats.agui.fold import fold
from aion_adk.formats.agui.patch import PatchError, apply_patch
from tests.clients.agui_client import HERE as CLIENT
from tests.clients.agui_client import install

Event = dict[str, Any]

ANY_EVENT: TypeAdapter[Any] = TypeAdapter(ProtocolEvent)
RUN = {"threadId": "t", "runId": "r"}
STREAMS_TO_COMPARE = 200

words = st.text("abc", min_size=1, max_size=4)
deltas = st.lists(words, max_size=3)
metadata: st.SearchStrategy[Event] = st.sampled_from(
    [Event(), {"metadata": {"k": 1}}, {"metadata": {"k": 2, "l": 3}}]
)


def text_stream(message_id: str, said: list[str], meta: Event) -> list[Event]:
    content = [
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": word, **meta}
        for word in said
    ]
    start = {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant", **meta}
    return [start, *content, {"type": "TEXT_MESSAGE_END", "messageId": message_id}]


def call_stream(call_id: str, pieces: list[str], meta: Event) -> list[Event]:
    args = [
        {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": piece, **meta}
        for piece in pieces
    ]
    start = {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": "f", **meta}
    result = {"messageId": f"r-{call_id}", "toolCallId": call_id, "content": "ok"}
    end = {"type": "TOOL_CALL_END", "toolCallId": call_id}
    return [start, *args, end, {"type": "TOOL_CALL_RESULT", **result, "role": "tool"}]


def reasoning_stream(message_id: str, said: list[str], meta: Event) -> list[Event]:
    content = [
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": message_id, "delta": word, **meta}
        for word in said
    ]
    start = {"type": "REASONING_MESSAGE_START", "messageId": message_id, "role": "reasoning"}
    return [start, *content, {"type": "REASONING_MESSAGE_END", "messageId": message_id}]


def chunk_stream(message_id: str, said: list[str], meta: Event) -> list[Event]:
    return [
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": message_id, "delta": word, **meta}
        for word in said
    ]


def state_events(values: list[int]) -> list[Event]:
    return [
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/n", "value": value}]}
        for value in values
    ]


SNAPSHOT = {"type": "STATE_SNAPSHOT", "snapshot": {"a": [1]}}
CUSTOM = {"type": "CUSTOM", "name": "x", "value": 1}


@st.composite
def valid_runs(draw: st.DrawFn, *, everything: bool) -> list[Event]:
    """A run whose streams follow each other, with other events in between."""
    makers = [text_stream, call_stream]
    if everything:
        makers += [reasoning_stream, chunk_stream]
    events: list[Event] = [{"type": "RUN_STARTED", **RUN}]
    for index in range(draw(st.integers(0, 4))):
        made = draw(st.sampled_from(makers))(f"id{index}", draw(deltas), draw(metadata))
        if made and draw(st.booleans()):
            made.insert(draw(st.integers(1, len(made))), CUSTOM)
        events += made
        events += draw(st.sampled_from([[], [SNAPSHOT], state_events([1, 2]), [CUSTOM]]))
    return [*events, {"type": "RUN_FINISHED", **RUN}]


@st.composite
def interleaved_runs(draw: st.DrawFn) -> list[Event]:
    """Streams that are told at once, some of them never ended."""
    waiting = [
        draw(st.sampled_from([text_stream, call_stream, reasoning_stream]))(
            f"id{index}", draw(deltas), {}
        )
        for index in range(draw(st.integers(0, 3)))
    ]
    waiting = [made if draw(st.booleans()) else made[:-1] for made in waiting]
    events: list[Event] = [{"type": "RUN_STARTED", **RUN}]
    while waiting:
        chosen = draw(st.sampled_from(range(len(waiting))))
        events.append(waiting[chosen].pop(0))
        waiting = [made for made in waiting if made]
    return [*events, {"type": "RUN_FINISHED", **RUN}]


any_runs = st.one_of(valid_runs(everything=True), interleaved_runs())


@given(any_runs)
def test_compaction_changes_nothing_that_a_client_keeps(events: list[Event]) -> None:
    before = copy.deepcopy(events)
    compacted = compact_agui_events(events)
    assert fold(compacted) == fold(events)
    assert compact_agui_events(compacted) == compacted
    assert events == before


@given(any_runs)
def test_every_compacted_event_is_valid_and_everything_begun_is_ended(events: list[Event]) -> None:
    compacted = compact_agui_events(events)
    for event in compacted:
        ANY_EVENT.validate_python(event)
    kinds = [event["type"] for event in compacted]
    assert not [kind for kind in kinds if kind.endswith("_CHUNK")]
    for prefix in ("TEXT_MESSAGE", "TOOL_CALL", "REASONING_MESSAGE"):
        assert kinds.count(f"{prefix}_START") == kinds.count(f"{prefix}_END")
    assert kinds[-1] == "RUN_FINISHED"


async def test_the_clients_own_function_compacts_to_the_same_events() -> None:
    await install()
    streams: list[list[Event]] = []

    @settings(max_examples=STREAMS_TO_COMPARE, phases=[Phase.generate], database=None)
    @given(valid_runs(everything=False))
    def collect(events: list[Event]) -> None:
        streams.append(events)

    collect()
    theirs = await asyncio.to_thread(_compacted_by_client, streams, cwd=CLIENT)
    assert [compact_agui_events(events) for events in streams] == theirs
    assert len(streams) >= STREAMS_TO_COMPARE / 2


def _compacted_by_client(streams: list[list[Event]], *, cwd: Path) -> list[list[Event]]:
    done = subprocess.run(
        ["node", "compact.mjs"],
        cwd=cwd,
        input=json.dumps(streams),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ([{"op": "add", "path": "/b/-", "value": 3}], {"a": 1, "b": [2, 3]}),
        ([{"op": "add", "path": "/b/0", "value": 0}], {"a": 1, "b": [0, 2]}),
        ([{"op": "remove", "path": "/a"}], {"b": [2]}),
        ([{"op": "replace", "path": "/b/0", "value": 9}], {"a": 1, "b": [9]}),
        ([{"op": "move", "from": "/a", "path": "/c~1d"}], {"b": [2], "c/d": 1}),
        ([{"op": "copy", "from": "/b", "path": "/c"}], {"a": 1, "b": [2], "c": [2]}),
        ([{"op": "test", "path": "/a", "value": 1}], {"a": 1, "b": [2]}),
        ([{"op": "replace", "path": "", "value": 5}], 5),
    ],
)
def test_a_patch_makes_a_new_document(patch: list[Event], expected: object) -> None:
    document = {"a": 1, "b": [2]}
    assert apply_patch(document, patch) == expected
    assert document == {"a": 1, "b": [2]}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/x"},
        {"op": "replace", "path": "/x", "value": 1},
        {"op": "add", "path": "/b/7", "value": 1},
        {"op": "add", "path": "/a/x", "value": 1},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "spin", "path": "/a"},
        {"op": "add", "path": "a", "value": 1},
    ],
)
def test_a_patch_that_does_not_fit_is_refused(operation: Event) -> None:
    with pytest.raises(PatchError):
        apply_patch({"a": 1, "b": [2]}, [operation])
