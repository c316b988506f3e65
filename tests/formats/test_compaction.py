"""The compaction of the mapping document."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aion_adk.formats.seed import compact_events


def chunk(value: str, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": value}
    return {"type": "text-message-chunk", "message": message, **fields}


def end(value: str, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": value}
    return {"type": "text-message-end", "message": message, **fields}


def user(value: str) -> dict[str, Any]:
    return {"type": "text-message-content", "message": {"role": "user", "content": value}}


def args(call_id: str, value: Any, name: str = "f") -> dict[str, Any]:
    call = {"id": call_id, "name": name, "arguments": value}
    return {"type": "tool-call-args", "toolCall": call}


def start(*calls: tuple[str, Any]) -> dict[str, Any]:
    plain = [{"id": call_id, "name": "f", "arguments": value} for call_id, value in calls]
    one = len(plain) == 1
    return {"type": "tool-call-start", **({"toolCall": plain[0]} if one else {"toolCalls": plain})}


def result(call_id: str, value: Any) -> dict[str, Any]:
    return {"type": "tool-call-result", "toolCallId": call_id, "result": value}


RUN = {"type": "run-finished"}

COMPACTIONS: list[Any] = [
    pytest.param([chunk("a"), chunk("b"), end("ab")], [end("ab")], id="1: chunks give way to end"),
    pytest.param([chunk("a"), chunk("b"), end("")], [end("ab")], id="1: empty end takes chunks"),
    pytest.param([chunk("a"), chunk("b")], [end("ab")], id="2: end of list"),
    pytest.param([chunk("a"), user("?")], [end("a"), user("?")], id="2: user message"),
    pytest.param([chunk("a"), RUN], [end("a"), RUN], id="2: run ends"),
    pytest.param(
        [chunk("a"), start(("c", {})), chunk("b")],
        [end("ab"), start(("c", {}))],
        id="2, 3: at the first chunk's place, tools do not close text",
    ),
    pytest.param(
        [chunk("a"), result("c", 1), chunk("b")],
        [end("a"), result("c", 1), end("b")],
        id="3: results do",
    ),
    pytest.param(
        [chunk("a", messageId="1"), chunk("x", messageId="2"), end("", messageId="1")],
        [end("x", messageId="2"), end("a", messageId="1")],
        id="lanes by message id",
    ),
    pytest.param(
        [args("c", {"x": 1}), start(("c", {"y": 2}))],
        [start(("c", {"x": 1, "y": 2}))],
        id="4: arguments before start",
    ),
    pytest.param(
        [start(("c", {})), args("c", '{"x"'), args("c", ": 1}")],
        [start(("c", {"x": 1}))],
        id="4: start before arguments",
    ),
    pytest.param([args("c", {"x": 1})], [start(("c", {"x": 1}))], id="4: no start"),
    pytest.param(
        [args("a", '{"n": 1}'), args("b", '{"n": 2}'), start(("a", ""), ("b", ""))],
        [start(("a", {"n": 1}), ("b", {"n": 2}))],
        id="4: two calls of one start stay together",
    ),
    pytest.param(
        [args("c", {"o": {"x": 1, "l": [1, 2]}}), start(("c", {"o": {"y": 2, "l": [3]}}))],
        [start(("c", {"o": {"x": 1, "y": 2, "l": [3]}}))],
        id="5: deep merge, lists replaced",
    ),
    pytest.param(
        [args("c", '{"x": 1}'), args("c", '{"x": 1, "y": 2}')],
        [start(("c", {"x": 1, "y": 2}))],
        id="5: cumulative producer",
    ),
    pytest.param(
        [start(("c", {"x": 1})), args("c", "{broken")],
        [start(("c", {"x": 1}))],
        id="5: an object beats text that is none",
    ),
    pytest.param(
        [args("c", '{"x": '), args("c", "1")],
        [
            {
                "type": "tool-call-start",
                "toolCall": {"id": "c", "name": "f", "arguments": '{"x": 1', "incomplete": True},
            }
        ],
        id="5: what cannot be read is kept as it came",
    ),
    pytest.param(
        [start(("c", {})), result("c", "pending"), chunk("a"), end("a"), result("c", "real")],
        [start(("c", {})), result("c", "real"), end("a")],
        id="6: last result in the first place",
    ),
    pytest.param(
        [start(("c", {"x": 1})), result("c", 1), start(("c", {"x": 1}))],
        [start(("c", {"x": 1})), result("c", 1)],
        id="6: a replayed start is dropped",
    ),
    pytest.param([{"type": "new"}, {"x": 1}], [{"type": "new"}, {"x": 1}], id="7: unknown passes"),
]


@pytest.mark.parametrize(("events", "expected"), COMPACTIONS)
def test_every_rule_of_compaction(
    events: list[dict[str, Any]], expected: list[dict[str, Any]]
) -> None:
    assert compact_events(events) == expected


def _in_lane(event: dict[str, Any], lane: dict[str, Any]) -> dict[str, Any]:
    return {**event, **lane}


ids = st.sampled_from(["a", "b"])
lanes: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [dict[str, Any](), {"messageId": "1"}, {"messageId": "2"}]
)
words = st.text("xyz{}", max_size=4)
arguments: st.SearchStrategy[Any] = st.one_of(
    words,
    st.sampled_from(['{"k": 1}', '{"k"', ": 2}", ""]),
    st.dictionaries(st.sampled_from("kl"), st.integers(0, 2), max_size=2),
)
streams: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.one_of(
        st.builds(_in_lane, st.builds(chunk, words), lanes),
        st.builds(_in_lane, st.builds(end, words), lanes),
        st.builds(user, words),
        st.builds(args, ids, arguments),
        st.builds(start, st.tuples(ids, arguments)),
        st.builds(start, st.tuples(st.just("a"), arguments), st.tuples(st.just("b"), arguments)),
        st.builds(result, ids, words),
        st.sampled_from([RUN, {"type": "run-started"}, {"type": "new"}]),
    ),
    max_size=12,
)


@given(streams)
def test_compacting_twice_changes_nothing_and_the_input_is_left_alone(
    events: list[dict[str, Any]],
) -> None:
    before = copy.deepcopy(events)
    compacted = compact_events(events)
    assert compact_events(compacted) == compacted
    assert events == before


@given(streams)
def test_compaction_leaves_no_streaming_and_loses_no_call_result_or_user_text(
    events: list[dict[str, Any]],
) -> None:
    compacted = compact_events(events)
    kinds = {event.get("type") for event in compacted}
    assert not kinds & {"text-message-chunk", "tool-call-args"}
    assert _ids(compacted) == _ids(events)
    assert [event for event in compacted if event.get("type") == "text-message-content"] == [
        event for event in events if event.get("type") == "text-message-content"
    ]


@given(st.lists(words, min_size=1, max_size=6))
def test_compaction_loses_no_text(chunks: list[str]) -> None:
    streamed = [chunk(value) for value in chunks]
    assert compact_events(streamed) == [end("".join(chunks))]
    assert compact_events([*streamed, end("")]) == [end("".join(chunks))]


def _ids(events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for event in events:
        calls = event.get("toolCalls") or ([event["toolCall"]] if "toolCall" in event else [])
        found |= {("call", call["id"]) for call in calls}
        if event.get("type") == "tool-call-result":
            found |= {("result", event["toolCallId"])}
    return found
