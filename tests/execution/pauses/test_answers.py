"""Which answers fit which calls."""

from pathlib import Path
from typing import Any

import pytest
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus
from google.genai import types

from aion_adk.execution.pauses.answers import OpenCalls, fitting_response, open_calls_of
from aion_adk.execution.pauses.questions import prompt_message
from aion_adk.protocol.from_genai import data_part

TOOL = types.FunctionCall(id="c1", name="order", args={"item": "pen"})
OTHER = types.FunctionCall(id="c2", name="ship", args={})
CONFIRMATION = types.FunctionCall(id="c3", name="adk_request_confirmation", args={})


def input_request(schema: dict[str, Any] | None, **args: Any) -> types.FunctionCall:
    return types.FunctionCall(
        id="i1", name="adk_request_input", args={"response_schema": schema, **args}
    )


def credential(**scheme: str) -> types.FunctionCall:
    args = {"authConfig": {"authScheme": scheme}}
    return types.FunctionCall(id="a1", name="adk_request_credential", args=args)


def message(*parts: Part, role: Role = Role.ROLE_USER, message_id: str = "m") -> Message:
    return Message(message_id=message_id, role=role, parts=parts)


def response(value: Any, **fields: str) -> Part:
    return data_part({"response": value, **fields}, adk_type="function_response")


def answered(*parts: Part, calls: list[types.FunctionCall]) -> dict[str | None, Any]:
    open_calls = OpenCalls()
    open_calls.add_calls(calls)
    open_calls.add_answers(message(*parts))
    return {item.id: item.response for item in open_calls.responses}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (data_part([1, 2]), {"result": [1, 2]}),
        (data_part({"c1": "five"}), {"result": "five"}),
        (data_part({"id": "c1", "response": {"n": 5}}), {"n": 5}),
        (data_part({"id": ["c1"], "response": 5}), {"id": ["c1"], "response": 5}),
        (response({"n": 5}, id="c1"), {"n": 5}),
        (response({"n": 5}, name="order"), {"n": 5}),
        (response({}, id="c1"), {}),
        (Part(text='{"c1": {"n": 5}}'), {"n": 5}),
        (Part(text="{not json"), {"result": "{not json"}),
    ],
)
def test_a_single_call_takes_any_answer(part: Part, expected: dict[str, Any]) -> None:
    """F2"""
    assert answered(part, calls=[TOOL]) == {"c1": expected}


def test_text_beside_data_is_a_remark() -> None:
    """F2"""
    assert answered(Part(text="here"), data_part({"n": 5}), calls=[TOOL]) == {"c1": {"n": 5}}


def test_what_is_left_after_the_answers_by_id_goes_to_the_last_call() -> None:
    """F2"""
    given = answered(response({"n": 5}, id="c2"), Part(text="blue"), calls=[TOOL, OTHER])
    assert given == {"c1": {"result": "blue"}, "c2": {"n": 5}}


def test_text_for_several_calls_answers_none() -> None:
    """F2"""
    assert answered(Part(text="yes"), calls=[TOOL, OTHER]) == {}


@pytest.mark.parametrize(
    ("value", "confirmed"),
    [
        (True, True),
        ("Yes!", True),
        (" approve ", True),
        ({"result": True}, True),
        ({"response": '{"confirmed": true}'}, True),
        ("no", False),
        (False, False),
    ],
)
def test_a_confirmation_is_a_boolean_or_a_plain_word(value: Any, *, confirmed: bool) -> None:
    """F2"""
    assert fitting_response(CONFIRMATION, value) == {"confirmed": confirmed}


def test_a_confirmation_may_bring_a_payload() -> None:
    """F2"""
    value = {"confirmed": True, "payload": {"limit": 5}}
    assert fitting_response(CONFIRMATION, value) == value


@pytest.mark.parametrize("value", [1, "1", "yes please", "on", [], {"confirmed": "true"}, None])
def test_nothing_else_is_a_confirmation(value: Any) -> None:
    """F2"""
    assert fitting_response(CONFIRMATION, value) is None


def test_a_workflow_confirmation_is_a_confirmation() -> None:
    """F2"""
    call = input_request({"title": "ToolConfirmation", "type": "object"})
    assert fitting_response(call, "yes") == {"confirmed": True}
    assert fitting_response(call, {"confirmed": "yes"}) is None


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, "5", {"result": 5}),
        ({"type": "integer"}, {"result": "5"}, {"result": 5}),
        ({"type": "integer"}, "five", None),
        ({"type": "boolean"}, "yes", {"result": True}),
        ({"type": "string"}, "5", {"result": "5"}),
        ({"type": "array"}, "[1]", {"result": [1]}),
        ({"type": "object", "required": ["n"]}, '{"n": 1}', {"n": 1}),
        ({"type": "object", "required": ["n"]}, {"m": 1}, None),
        (None, "anything", {"result": "anything"}),
        ({"type": "nonsense"}, "anything", {"result": "anything"}),
    ],
)
def test_input_fits_its_schema(
    schema: dict[str, Any] | None, value: Any, expected: dict[str, Any] | None
) -> None:
    """F2"""
    assert fitting_response(input_request(schema), value) == expected


def test_a_schema_may_refer_to_its_own_definitions_and_to_nothing_else(tmp_path: Path) -> None:
    """F2: a model may write it, and what it names is never fetched."""
    number = {"$ref": "#/$defs/number", "$defs": {"number": {"type": "integer"}}}
    assert fitting_response(input_request(number), "7") == {"result": 7}
    assert fitting_response(input_request(number), "seven") is None
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    elsewhere = {"$ref": (tmp_path / "schema.json").as_uri()}
    assert fitting_response(input_request(elsewhere), "seven") == {"result": "seven"}


def test_text_that_looks_like_json_stays_text_in_a_workflow() -> None:
    """F2"""
    call = input_request({"type": "string"}, interruptId="i1")
    assert fitting_response(call, "5") == {"result": '"5"'}


@pytest.mark.parametrize(
    ("call", "value", "expected"),
    [
        (credential(type="apiKey"), "k", {"authType": "apiKey", "apiKey": "k"}),
        (
            credential(type="http", scheme="bearer"),
            "t",
            {"authType": "http", "http": {"scheme": "bearer", "credentials": {"token": "t"}}},
        ),
        (
            credential(type="oauth2"),
            "https://here/?code=1",
            {"authType": "oauth2", "oauth2": {"authResponseUri": "https://here/?code=1"}},
        ),
        (credential(type="apiKey"), {"unknown": 1}, None),
    ],
)
def test_a_credential_can_be_given_as_text(
    call: types.FunctionCall, value: Any, expected: dict[str, Any] | None
) -> None:
    """F2"""
    assert fitting_response(call, value) == expected


def test_what_a_task_waits_for_is_read_from_its_history() -> None:
    """F2"""
    first = prompt_message([TOOL])
    asking = prompt_message([TOOL, OTHER])
    task = Task(
        status=TaskStatus(state=TaskState.TASK_STATE_INPUT_REQUIRED, message=asking),
        history=[
            message(Part(text="go"), message_id="1"),
            first,
            message(Part(text="blue"), message_id="2"),
            asking,
            message(response({"n": 1}, id="c2"), message_id="3"),
            message(Part(text="this one is new"), message_id="4"),
        ],
    )
    open_calls = open_calls_of(task, before=task.history[-1])
    assert list(open_calls.unanswered) == ["c1"]
    assert [(item.id, item.response) for item in open_calls.responses] == [("c2", {"n": 1})]


def test_a_task_that_is_not_paused_waits_for_nothing() -> None:
    """F2"""
    working = TaskStatus(state=TaskState.TASK_STATE_WORKING)
    assert open_calls_of(Task(status=working, history=[prompt_message([TOOL])])).unanswered == {}
