"""Every row of the mapping table on the AG-UI wire, each event valid for the protocol's package."""

from collections.abc import Sequence
from typing import Any

import pytest
from a2a.server.events import Event as A2AEvent
from a2a.types import Part, TaskState
from ag_ui.core import Event
from pydantic import TypeAdapter

from aion_adk.front_ends.agui.encoder import AGUIEncoder
from aion_adk.protocol.from_genai import data_part
from tests.front_ends.fold import fold
from tests.front_ends.streams import (
    WORKING,
    artifact,
    call_arguments,
    completed,
    delta,
    delta_end,
    message,
    started,
    status,
    text,
    thought,
    tool_call,
    tool_result,
)

ANY_EVENT: TypeAdapter[Any] = TypeAdapter(Event)
IN_STEP = ["RUN_STARTED", "STEP_STARTED"]
FINISHED = ["STEP_FINISHED", "RUN_FINISHED"]
ONE_TEXT = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]
ONE_CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]


def encoded(
    events: Sequence[A2AEvent], *, version: str | None = "1.0", **options: Any
) -> list[dict[str, Any]]:
    encoder = AGUIEncoder(thread_id="c1", run_id="r1", protocol_version=version, **options)
    sent = [one for event in events for one in encoder.encode(event)] + encoder.finish()
    assert encoder.finish() == []
    for event in sent:
        ANY_EVENT.validate_python(event)
        assert None not in event.values()
    return sent


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


ROWS: list[Any] = [
    pytest.param([started(), completed()], [], id="run and step"),
    pytest.param([started(TaskState.TASK_STATE_SUBMITTED), completed()], [], id="submitted"),
    pytest.param(
        [started(), delta("a"), delta("b"), delta_end(), completed(text("ab"))],
        ["TEXT_MESSAGE_START", *["TEXT_MESSAGE_CONTENT"] * 2, "TEXT_MESSAGE_END"],
        id="text chunks, final repeats them",
    ),
    pytest.param(
        [
            started(),
            status(WORKING, text("a"), message_id="s", chunk=True),
            status(WORKING, text("b"), message_id="s", chunk=True),
            completed(text("ab")),
        ],
        ["TEXT_MESSAGE_START", *["TEXT_MESSAGE_CONTENT"] * 2, "TEXT_MESSAGE_END"],
        id="chunks as status messages",
    ),
    pytest.param([started(), completed(text("ab"))], ONE_TEXT, id="text that never streamed"),
    pytest.param(
        [started(), delta("a"), delta_end(), completed(text("abc"))],
        ["TEXT_MESSAGE_START", *["TEXT_MESSAGE_CONTENT"] * 2, "TEXT_MESSAGE_END"],
        id="final that extends",
    ),
    pytest.param(
        [started(), delta("a"), delta_end(), completed(text("z"))],
        [
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            *ONE_TEXT,
            "MESSAGES_SNAPSHOT",
        ],
        id="final that differs",
    ),
    pytest.param(
        [
            started(),
            status(WORKING, call_arguments("a", '{"x"'), message_id="1", chunk=True),
            status(WORKING, call_arguments("a", ": 1}"), message_id="1", chunk=True),
            status(WORKING, call_arguments("a", '{"x": 1}'), message_id="2"),
            completed(),
        ],
        ["TOOL_CALL_START", *["TOOL_CALL_ARGS"] * 2, "TOOL_CALL_END"],
        id="incremental arguments",
    ),
    pytest.param(
        [
            started(),
            status(WORKING, tool_call("a", x=1)),
            status(WORKING, tool_result("a", {"ok": 1}), message_id="m2"),
            completed(),
        ],
        [*ONE_CALL, "TOOL_CALL_RESULT"],
        id="tool call and result",
    ),
    pytest.param(
        [started(), status(WORKING, tool_call("a"), tool_call("b")), completed()],
        [*ONE_CALL, *ONE_CALL],
        id="two calls of one message",
    ),
    pytest.param(
        [started(), status(WORKING, thought("hm", "c2ln")), completed()],
        [
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END",
            "REASONING_ENCRYPTED_VALUE",
            "REASONING_END",
        ],
        id="thought",
    ),
    pytest.param(
        [
            started(),
            artifact(Part(url="https://example.com/a.png")),
            artifact(Part(raw=b"x"), append=True),
            completed(),
        ],
        ["ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"],
        id="artifact, then more of it",
    ),
    pytest.param(
        [started(), completed(text("see"), data_part({"n": 1}))],
        [*ONE_TEXT, "ACTIVITY_SNAPSHOT"],
        id="data beside text",
    ),
    pytest.param(
        [
            started(),
            status(WORKING, data_part({}, adk_type="state_delta"), state_delta={"a/b": 1}),
            completed(),
        ],
        ["STATE_DELTA", "STATE_SNAPSHOT"],
        id="state",
    ),
]


@pytest.mark.parametrize(("events", "between"), ROWS)
def test_every_row_of_the_table_becomes_valid_events(
    events: list[A2AEvent], between: list[str]
) -> None:
    assert kinds(encoded(events)) == [*IN_STEP, *between, *FINISHED]


def test_everything_in_one_message_is_a_message_of_its_own_for_the_client() -> None:
    sent = encoded([started(), completed(thought("hm"), text("see"), data_part({"n": 1}))])
    shown = [(message["role"], message["content"]) for message in fold(sent)]
    parts = {"name": "", "parts": [{"type": "data", "data": {"n": 1}}]}
    assert shown == [("reasoning", "hm"), ("assistant", "see"), ("activity", parts)]


def test_a_call_whose_arguments_never_end_is_ended_with_the_run() -> None:
    half = status(WORKING, call_arguments("a", '{"x"'), chunk=True)
    assert kinds(encoded([started(), half, completed()])) == [*IN_STEP, *ONE_CALL, *FINISHED]


def test_a_call_that_is_repeated_is_sent_once_until_it_is_answered() -> None:
    calls = [status(WORKING, tool_call("a"), message_id=f"m{i}") for i in range(3)]
    answer = status(WORKING, tool_result("a", {"ok": 1}), message_id="m9")
    sent = encoded([started(), calls[0], calls[1], answer, calls[2], completed()])
    assert kinds(sent) == [*IN_STEP, *ONE_CALL, "TOOL_CALL_RESULT", *ONE_CALL, *FINISHED]


def test_a_whole_task_at_the_end_shows_no_artifact_again() -> None:
    whole = started(TaskState.TASK_STATE_COMPLETED)
    whole.artifacts.append(artifact(text("x")).artifact)
    sent = kinds(encoded([started(), artifact(text("x")), whole]))
    assert sent == [*IN_STEP, "ACTIVITY_SNAPSHOT", *FINISHED]


def test_a_bare_message_is_a_run_of_its_own() -> None:
    assert kinds(encoded([message(text("hi"))])) == ["RUN_STARTED", *ONE_TEXT, "RUN_FINISHED"]


def test_the_ids_of_a_run_are_the_clients_and_those_of_messages_stay_the_same() -> None:
    events = [started(), delta("a"), delta_end(), completed(text("a"))]
    first, second = encoded(events), encoded(events)
    assert first == second
    run = {"type": "RUN_STARTED", "threadId": "c1", "runId": "r1", "protocolVersion": "1.0"}
    assert first[0] == run
    assert {event["messageId"] for event in first if "messageId" in event} == {"r1-1"}


def test_an_old_client_is_not_sent_what_it_rejects() -> None:
    paused = status(TaskState.TASK_STATE_INPUT_REQUIRED, tool_call("a", pending=True))
    canceled = status(TaskState.TASK_STATE_CANCELED)
    old, new = encoded([started(), paused], version=None), encoded([started(), paused])
    assert "outcome" not in old[-1]
    assert "protocolVersion" not in old[0]
    assert new[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["a"]}
    assert encoded([started(), canceled])[-1]["outcome"] == {"type": "cancelled"}
    assert encoded([started(), canceled], version=None)[-1] == {
        "type": "RUN_ERROR",
        "message": "The run was canceled.",
        "code": "canceled",
    }


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (TaskState.TASK_STATE_INPUT_REQUIRED, "input_required"),
        (TaskState.TASK_STATE_AUTH_REQUIRED, "auth_required"),
    ],
)
def test_a_pause_is_an_interrupt_for_clients_that_want_it(state: TaskState, reason: str) -> None:
    paused = status(state, text("Sure?"), tool_call("a", pending=True))
    sent = encoded([started(), paused], interrupts=True)
    assert kinds(sent) == [*IN_STEP, *ONE_TEXT, *ONE_CALL, *FINISHED]
    interrupt = {"id": "a", "reason": reason, "toolCallId": "a", "message": "Sure?"}
    assert sent[-1]["outcome"] == {"type": "interrupt", "interrupts": [interrupt]}


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (TaskState.TASK_STATE_FAILED, "failed"),
        (TaskState.TASK_STATE_REJECTED, "rejected"),
    ],
)
def test_a_failure_is_the_last_event_and_its_text_is_no_message(
    state: TaskState, code: str
) -> None:
    sent = encoded([started(), delta("a"), status(state, text("no"))])
    assert kinds(sent) == [*IN_STEP, *ONE_TEXT, "RUN_ERROR"]
    assert (sent[-1]["message"], sent[-1]["code"]) == ("no", code)


def test_a_stream_that_dies_is_an_error_and_everything_open_is_closed() -> None:
    sent = encoded([started(), delta("a"), delta("b", lane="aion:stream-delta:x")])
    assert kinds(sent)[-3:] == ["TEXT_MESSAGE_END", "TEXT_MESSAGE_END", "RUN_ERROR"]
    assert sent[-1]["code"] == "stream_incomplete"


def test_nothing_follows_the_end() -> None:
    encoder = AGUIEncoder(thread_id="c1", run_id="r1")
    _ = [encoder.encode(event) for event in (started(), completed())]
    assert encoder.encode(status(WORKING, text("late"), message_id="m9")) == []
    assert encoder.finish() == []


def test_two_messages_with_the_same_text_are_both_sent() -> None:
    events = [
        started(),
        delta("OK"),
        delta_end(),
        status(WORKING, text("OK"), message_id="m1"),
        completed(text("OK"), message_id="m2"),
    ]
    assert [item["content"] for item in fold(encoded(events))] == ["OK", "OK"]


def test_messages_that_stream_at_once_do_not_mix() -> None:
    other = "aion:stream-delta:b"
    events = [
        started(),
        delta("a"),
        delta("x", lane=other),
        delta("b"),
        delta("y", lane=other),
        delta_end(),
        delta_end(lane=other),
        completed(text("ab"), text("xy")),
    ]
    assert [item["content"] for item in fold(encoded(events))] == ["ab", "xy"]


def test_a_thought_that_streamed_before_the_text_is_not_sent_again() -> None:
    lane = "aion:stream-delta#thought"
    events = [
        started(),
        delta("hm", lane=lane),
        delta("ok"),
        delta_end(),
        delta_end(lane=lane),
        status(WORKING, thought("hm")),
        completed(text("ok"), message_id="m2"),
    ]
    sent = fold(encoded(events))
    assert [(item["role"], item["content"]) for item in sent] == [
        ("reasoning", "hm"),
        ("assistant", "ok"),
    ]


def test_calls_belong_to_the_message_with_their_text() -> None:
    events = [
        started(),
        delta("Look"),
        delta_end(),
        status(WORKING, text("Look"), tool_call("a")),
        completed(text("Done"), message_id="m2"),
    ]
    sent = fold(encoded(events))
    assert [(item["content"], len(item.get("toolCalls", []))) for item in sent] == [
        ("Look", 1),
        ("Done", 0),
    ]


def test_the_correction_is_the_record_and_the_usage_is_passed_on() -> None:
    earlier = {"id": "u1", "role": "user", "content": "hi"}
    usage = {"prompt_token_count": 3, "candidates_token_count": 2, "thoughts_token_count": 1}
    events = [started(), delta("a"), delta_end(), completed(text("z"), usage=usage)]
    sent = encoded(events, messages=[earlier])
    snapshot = next(event for event in sent if event["type"] == "MESSAGES_SNAPSHOT")
    assert snapshot["messages"] == [earlier, {"id": "m1", "role": "assistant", "content": "z"}]
    counted = {"inputTokens": 3, "outputTokens": 3, "totalTokens": 6, "reasoningTokens": 1}
    assert sent[-1]["usage"] == [counted]


def test_state_keys_are_escaped_and_the_snapshot_builds_on_the_clients_state() -> None:
    changed = status(WORKING, data_part({}, adk_type="state_delta"), state_delta={"a/~": 1})
    sent = encoded([started(), changed, completed()], state={"b": 2})
    assert sent[2]["delta"] == [{"op": "add", "path": "/a~1~0", "value": 1}]
    assert sent[3]["snapshot"] == {"a/~": 1, "b": 2}


def test_the_words_that_ask_a_person_are_not_sent_for_a_tool_that_a_program_runs() -> None:
    prompt = Part(text="f() is waiting for its result.")
    prompt.metadata.update({"prompt": True})
    paused = status(TaskState.TASK_STATE_INPUT_REQUIRED, prompt, tool_call("a", pending=True))
    assert kinds(encoded([started(), paused], client_tools=["f"])) == [
        *IN_STEP,
        *ONE_CALL,
        *FINISHED,
    ]
