"""The mapping document: its table and its examples to the letter."""

import json
from typing import Any

import pytest
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent

from aion_adk.formats.seed import (
    convert_a2a_history_to_openai_chat,
    convert_a2a_message_to_agui_event,
    convert_a2a_task_event_to_agui_event,
    convert_agui_event_to_openai_chat,
    convert_agui_event_to_openai_responses,
)
from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import to_struct

CALL = {"call_id": "call_abc123", "name": "get_weather", "arguments": {"location": "Oakland"}}
RESULT = {"call_id": "call_abc123", "name": "get_weather", "output": "Sunny, 72째F"}
OPENAI_CALL = {
    "id": "call_abc123",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"location": "Oakland"}'},
}

EXAMPLES = [
    pytest.param(
        {
            "role": "user",
            "parts": [{"kind": "text", "text": "What's the weather?"}],
            "metadata": {"canonical_type": "TextMessageContentEvent"},
        },
        {
            "type": "text-message-content",
            "message": {"role": "user", "content": "What's the weather?"},
        },
        {"role": "user", "content": "What's the weather?"},
        {"event": "message.delta", "data": {"role": "user", "content": "What's the weather?"}},
        id="user text",
    ),
    pytest.param(
        {
            "role": "agent",
            "parts": [{"kind": "data", "data": {"tool_calls": [CALL]}}],
            "metadata": {"canonical_type": "ToolCallStartEvent"},
        },
        {
            "type": "tool-call-start",
            "toolCall": {
                "id": "call_abc123",
                "name": "get_weather",
                "arguments": {"location": "Oakland"},
            },
        },
        {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL]},
        {"event": "message.delta", "data": {"role": "assistant", "tool_calls": [OPENAI_CALL]}},
        id="tool call",
    ),
    pytest.param(
        {
            "role": "user",
            "parts": [{"kind": "data", "data": {"tool_results": [RESULT]}}],
            "metadata": {"canonical_type": "ToolCallResultEvent"},
        },
        {"type": "tool-call-result", "toolCallId": "call_abc123", "result": "Sunny, 72째F"},
        {"role": "tool", "tool_call_id": "call_abc123", "content": "Sunny, 72째F"},
        {
            "event": "message.delta",
            "data": {"role": "tool", "tool_call_id": "call_abc123", "content": "Sunny, 72째F"},
        },
        id="tool result",
    ),
]


def protobuf_of(plain: dict[str, Any]) -> Message:
    parts = [Part(text=p["text"]) if "text" in p else data_part(p["data"]) for p in plain["parts"]]
    role = Role.ROLE_USER if plain["role"] == "user" else Role.ROLE_AGENT
    metadata = to_struct(plain.get("metadata", {}))
    return Message(role=role, parts=parts, metadata=metadata, message_id="m1")


@pytest.mark.parametrize(("a2a", "agui", "chat", "responses"), EXAMPLES)
def test_the_examples_of_the_document_are_equal_to_the_letter_in_all_four_formats(
    a2a: dict[str, Any], agui: dict[str, Any], chat: dict[str, Any], responses: dict[str, Any]
) -> None:
    assert convert_a2a_message_to_agui_event(a2a) == agui
    assert convert_a2a_message_to_agui_event(protobuf_of(a2a)) == agui
    assert json.dumps(convert_agui_event_to_openai_chat(agui)) == json.dumps([chat])
    assert json.dumps(convert_agui_event_to_openai_responses(agui)) == json.dumps([responses])


def text(role: str, value: str, canonical_type: str = "") -> dict[str, Any]:
    metadata = {"canonical_type": canonical_type} if canonical_type else {}
    return {"role": role, "parts": [{"kind": "text", "text": value}], "metadata": metadata}


def data(role: str, value: dict[str, Any], canonical_type: str = "") -> dict[str, Any]:
    metadata = {"canonical_type": canonical_type} if canonical_type else {}
    return {"role": role, "parts": [{"kind": "data", "data": value}], "metadata": metadata}


MESSAGE_ROWS = [
    (text("user", "hi", "TextMessageContentEvent"), "text-message-content", 1, "message.delta"),
    (text("agent", "he", "TextMessageChunkEvent"), "text-message-chunk", 0, "message.delta"),
    (text("agent", "hello", "TextMessageEndEvent"), "text-message-end", 1, "message.done"),
    (text("agent", "hello"), "text-message-end", 1, "message.done"),
    (
        data("agent", {"tool_calls": [CALL]}, "ToolCallArgsEvent"),
        "tool-call-args",
        0,
        "message.delta",
    ),
    (data("agent", {"tool_calls": [CALL]}), "tool-call-start", 1, "message.delta"),
    (data("user", {"tool_results": [RESULT]}), "tool-call-result", 1, "message.delta"),
]


@pytest.mark.parametrize(("message", "kind", "chat_messages", "responses_event"), MESSAGE_ROWS)
def test_every_message_row_of_the_table(
    message: dict[str, Any], kind: str, chat_messages: int, responses_event: str
) -> None:
    event = convert_a2a_message_to_agui_event(message)
    assert event == convert_a2a_message_to_agui_event(protobuf_of(message))
    assert event["type"] == kind
    assert len(convert_agui_event_to_openai_chat(event)) == chat_messages
    events = convert_agui_event_to_openai_responses(event)
    assert [event["event"] for event in events] == [responses_event]


STATUS_ROWS = [
    (TaskState.TASK_STATE_SUBMITTED, "submitted", "run-started", "run.started"),
    (TaskState.TASK_STATE_WORKING, "working", "step-started", "run.step.started"),
    (TaskState.TASK_STATE_INPUT_REQUIRED, "input-required", "step-finished", "run.step.done"),
    (TaskState.TASK_STATE_AUTH_REQUIRED, "auth-required", "step-finished", "run.step.done"),
    (TaskState.TASK_STATE_COMPLETED, "completed", "run-finished", "run.done"),
    (TaskState.TASK_STATE_FAILED, "failed", "run-error", "run.error"),
    (TaskState.TASK_STATE_REJECTED, "rejected", "run-error", "run.error"),
    (TaskState.TASK_STATE_CANCELED, "canceled", "run-error", "run.error"),
]


@pytest.mark.parametrize(("state", "name", "kind", "responses_event"), STATUS_ROWS)
def test_every_status_row_of_the_table(
    state: TaskState, name: str, kind: str, responses_event: str
) -> None:
    update = TaskStatusUpdateEvent(task_id="t", context_id="c", status=TaskStatus(state=state))
    plain = {"taskId": "t", "contextId": "c", "status": {"state": name}}
    event = {"type": kind, "runId": "t", "threadId": "c", "state": name}
    run = {"runId": "t", "threadId": "c", "state": name}
    assert convert_a2a_task_event_to_agui_event(update) == event
    assert convert_a2a_task_event_to_agui_event(plain) == event
    assert convert_agui_event_to_openai_chat(event) == []
    assert convert_agui_event_to_openai_responses(event) == [
        {"event": responses_event, "data": run}
    ]


def test_a_task_starts_a_run_and_the_documents_created_is_submitted() -> None:
    working = TaskStatus(state=TaskState.TASK_STATE_WORKING)
    task = Task(id="t", context_id="c", status=working)
    expected = {"type": "run-started", "runId": "t", "threadId": "c", "state": "working"}
    created = {"taskId": "t", "contextId": "c", "status": {"state": "created"}}
    assert convert_a2a_task_event_to_agui_event(task) == expected
    plain = {"id": "t", "contextId": "c", "status": {"state": "working"}}
    assert convert_a2a_task_event_to_agui_event(plain) == expected
    assert convert_a2a_task_event_to_agui_event(created)["type"] == "run-started"


def test_several_calls_and_results_stay_in_one_event_and_adk_parts_are_read_too() -> None:
    calls = Message(
        role=Role.ROLE_AGENT,
        parts=[
            Part(text="Both."),
            data_part({"id": "a", "name": "f", "args": {"n": 1}}, adk_type="function_call"),
            data_part({"id": "b", "name": "g"}, adk_type="function_call"),
        ],
    )
    results = Message(
        role=Role.ROLE_AGENT,
        parts=[
            data_part({"id": "a", "name": "f", "response": {"x": 1}}, adk_type="function_response"),
            data_part({"id": "b", "response": {"result": "ok"}}, adk_type="function_response"),
        ],
    )
    assert convert_a2a_message_to_agui_event(calls) == {
        "type": "tool-call-start",
        "content": "Both.",
        "toolCalls": [
            {"id": "a", "name": "f", "arguments": {"n": 1}},
            {"id": "b", "name": "g", "arguments": {}},
        ],
    }
    assert convert_a2a_history_to_openai_chat([calls, results])[1:] == [
        {"role": "tool", "tool_call_id": "a", "content": '{"x": 1}'},
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
    ]


def test_files_of_a_user_are_content_parts_and_those_of_an_agent_an_activity() -> None:
    image = Part(raw=b"png", media_type="image/png", filename="a.png")
    question = Message(role=Role.ROLE_USER, parts=[Part(text="What is it?"), image])
    shown = Message(role=Role.ROLE_AGENT, parts=[image])
    assert convert_a2a_history_to_openai_chat([question, shown]) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
            ],
        }
    ]
    assert convert_a2a_message_to_agui_event(shown)["type"] == "activity-snapshot"


def test_thoughts_and_state_have_events_of_their_own_and_are_no_chat_messages() -> None:
    thought = Part(text="hmm", metadata=to_struct({"adk_thought": True}))
    thinking = Message(role=Role.ROLE_AGENT, parts=[thought])
    changed = Message(role=Role.ROLE_AGENT, parts=[data_part({"n": 1}, adk_type="state_delta")])
    changed.metadata.update({"adk_actions": {"stateDelta": {"n": 1}}})
    assert convert_a2a_message_to_agui_event(thinking)["type"] == "reasoning-message-content"
    assert convert_a2a_message_to_agui_event(changed) == {"type": "state-delta", "delta": {"n": 1}}
    assert convert_a2a_history_to_openai_chat([thinking, changed]) == []


def test_a_whole_history_becomes_a_chat() -> None:
    history = [
        text("user", "What's the weather?"),
        text("agent", "Let me ", "TextMessageChunkEvent"),
        text("agent", "look.", "TextMessageChunkEvent"),
        text("agent", "Let me look.", "TextMessageEndEvent"),
        data("agent", {"tool_calls": [{**CALL, "arguments": {}}]}, "ToolCallArgsEvent"),
        data("agent", {"tool_calls": [CALL]}, "ToolCallStartEvent"),
        data("user", {"tool_results": [RESULT]}),
        text("agent", "Sunny."),
    ]
    assert convert_a2a_history_to_openai_chat(history) == [
        {"role": "user", "content": "What's the weather?"},
        {"role": "assistant", "content": "Let me look."},
        {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "tool_call_id": "call_abc123", "content": "Sunny, 72째F"},
        {"role": "assistant", "content": "Sunny."},
    ]


def test_integers_that_a_double_cannot_hold_travel_as_text() -> None:
    call = {**CALL, "arguments": {"n": 2**60}, "arguments_json": f'{{"n": {2**60 + 1}}}'}
    message = protobuf_of(data("agent", {"tool_calls": [call]}))
    [chat] = convert_a2a_history_to_openai_chat([message])
    assert chat["tool_calls"][0]["function"]["arguments"] == f'{{"n": {2**60 + 1}}}'
