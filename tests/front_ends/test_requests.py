"""Requests of other protocols as turns: what is new, what was before, what the client brings."""

from typing import Any

import pytest
from a2a.types import Message, Part, Role

from aion_adk.formats import media
from aion_adk.formats.media import ContentError
from aion_adk.formats.tools import tool_calls_of, tool_results_of
from aion_adk.front_ends.agui.request import read_request as read_agui
from aion_adk.front_ends.openai_chat.request import read_request as read_chat
from aion_adk.front_ends.openai_responses.endpoint import response_id_of, task_at, task_id_of
from aion_adk.front_ends.openai_responses.request import read_request as read_responses
from aion_adk.front_ends.request import ClientTurn, RequestError
from aion_adk.protocol.structs import to_plain
from tests.front_ends.streams import message, started, text

SCHEMA = {"type": "object"}
AGUI_TOOL = {"name": "f", "description": "does f", "parameters": SCHEMA}
CHAT_TOOL = {"type": "function", "function": AGUI_TOOL}
FLAT_TOOL = {"type": "function", **AGUI_TOOL}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


def agui(messages: list[Any], **fields: Any) -> ClientTurn:
    body = {"threadId": "t", "runId": "r", "messages": messages, **fields}
    return read_agui(body).turn


def chat(messages: list[Any], **fields: Any) -> ClientTurn:
    return read_chat({"model": "m", "messages": messages, **fields}).turn


def responses(given: Any, **fields: Any) -> ClientTurn:
    return read_responses({"model": "m", "input": given, **fields}).turn


def with_ids(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": f"m{index}", **item} for index, item in enumerate(messages)]


AGUI_MESSAGES = with_ids(
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "Look.", "toolCalls": [CHAT_CALL]},
        {"role": "tool", "toolCallId": "c1", "content": '{"ok": 1}'},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "two"},
    ]
)
CHAT_MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "Look.", "tool_calls": [CHAT_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"ok": 1}'},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "two"},
]
RESPONSES_ITEMS = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x": 1}'},
    {"type": "function_call_output", "call_id": "c1", "output": '{"ok": 1}'},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    {"role": "user", "content": [{"type": "input_text", "text": "two"}]},
]


@pytest.mark.parametrize(
    "turn",
    [
        agui(AGUI_MESSAGES, tools=[AGUI_TOOL]),
        chat(CHAT_MESSAGES, tools=[CHAT_TOOL]),
        responses(RESPONSES_ITEMS, tools=[FLAT_TOOL]),
    ],
    ids=["agui", "chat", "responses"],
)
def test_a_conversation_is_split_after_the_last_message_of_the_agent(turn: ClientTurn) -> None:
    assert [part.text for part in turn.user_parts] == ["two"]
    assert turn.results == {}
    assert turn.instructions == ["Be brief."]
    [tool] = turn.tools
    assert (tool.name, tool.description, tool.parameters) == ("f", "does f", SCHEMA)
    assert [part.text for item in turn.history for part in item.parts if part.text] == [
        "one",
        "Look.",
        "Done.",
    ]
    calls = [call for item in turn.history for call in tool_calls_of(item)]
    results = [result for item in turn.history for result in tool_results_of(item)]
    assert [(call.id, call.name, call.arguments) for call in calls] == [("c1", "f", {"x": 1})]
    assert [(result.id, result.output) for result in results] == [("c1", {"ok": 1})]


@pytest.mark.parametrize(
    "turn",
    [
        agui(with_ids([*AGUI_MESSAGES[:3], {"role": "tool", "toolCallId": "c1", "content": "7"}])),
        agui([], resume=[{"interruptId": "c1", "status": "resolved", "payload": "7"}]),
        chat([*CHAT_MESSAGES[:3], {"role": "tool", "tool_call_id": "c1", "content": "7"}]),
        responses([{"type": "function_call_output", "call_id": "c1", "output": "7"}]),
    ],
    ids=["agui tool message", "agui resume", "chat", "responses"],
)
def test_a_new_result_answers_its_call(turn: ClientTurn) -> None:
    answer = to_plain(turn.results["c1"].data)
    assert (answer["id"], answer["response"]) == ("c1", {"result": "7"})


def test_an_agui_client_brings_state_context_and_its_wish_for_interrupts() -> None:
    body = {
        "threadId": "t",
        "runId": "r",
        "protocolVersion": "1.0",
        "messages": with_ids([{"role": "user", "content": "hi"}]),
        "state": {"n": 1},
        "context": [{"description": "page", "value": "home"}],
        "forwardedProps": {"interrupts": True},
    }
    request = read_agui(body)
    assert request.turn.state == {"n": 1}
    assert request.turn.instructions == ["page: home"]
    assert (request.interrupts, request.protocol_version) == (True, "1.0")


def test_a_tool_that_failed_at_the_client_is_an_error() -> None:
    failed = {"role": "tool", "toolCallId": "c1", "content": "", "error": "no GPS"}
    turn = agui(with_ids([*AGUI_MESSAGES[:3], failed]))
    assert to_plain(turn.results["c1"].data)["response"] == {"error": "no GPS"}


RAW = Part(raw=b"png", media_type="image/png")
FILES: list[Any] = [
    ({"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}, RAW),
    ({"type": "input_image", "image_url": "data:image/png;base64,cG5n"}, RAW),
    (
        {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}},
        Part(url="https://x.org/a.png"),
    ),
    (
        {"type": "input_audio", "input_audio": {"data": "cG5n", "format": "mp3"}},
        Part(raw=b"png", media_type="audio/mpeg"),
    ),
    (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "cG5n"}},
        Part(raw=b"png", filename="a.pdf"),
    ),
    (
        {"type": "input_file", "file_url": "https://x.org/a.pdf"},
        Part(url="https://x.org/a.pdf"),
    ),
]


@pytest.mark.parametrize(("content", "part"), FILES)
def test_every_kind_of_openai_file_is_a_part(content: dict[str, Any], part: Part) -> None:
    assert media.from_chat_content(content) == part


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (RAW, "image"),
        (Part(raw=b"x", media_type="audio/wav", filename="a.wav"), "audio"),
        (Part(url="https://x.org/v.mp4", media_type="video/mp4"), "video"),
        (Part(url="https://x.org/d.pdf", media_type="application/pdf"), "document"),
    ],
)
def test_a_file_survives_the_way_to_agui_and_back(part: Part, kind: str) -> None:
    content = media.to_agui_content(part)
    assert content["type"] == kind
    assert media.from_agui_content(content) == part


@pytest.mark.parametrize(
    "content",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png,raw"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "input_image"},
        {"type": "image_url", "image_url": {}},
        {"type": "input_audio", "input_audio": {"data": "é", "format": "mp3"}},
        {"type": "smell"},
    ],
)
def test_a_file_that_cannot_be_read_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(ContentError):
        media.from_chat_content(content)


def test_the_error_of_a_request_names_its_field() -> None:
    with pytest.raises(RequestError, match="background"):
        read_responses({"model": "m", "input": "hi", "background": True})
    with pytest.raises(RequestError, match="threadId"):
        read_agui({"runId": "r", "messages": []})


def test_a_file_of_the_older_agui_dialect_that_cannot_be_read_is_an_error_of_the_request() -> None:
    broken = {"type": "binary", "mimeType": "text/plain", "data": "a"}
    with pytest.raises(RequestError, match="base64"):
        agui(with_ids([{"role": "user", "content": [broken]}]))


def test_a_response_id_names_the_turn_of_the_task() -> None:
    task = started()
    first = response_id_of(task)
    task.history.append(message(text("Which?"), message_id="m1"))
    task.history.append(Message(message_id="u2", role=Role.ROLE_USER, parts=[text("this")]))
    task.history.append(message(text("Fine."), message_id="m2"))
    assert (first, response_id_of(task)) == ("resp_t1", "resp_t1.2")
    assert task_id_of("resp_t1.2") == "t1"
    earlier = task_at(task, first)
    assert earlier is not None
    assert [item.message_id for item in earlier.history] == ["u1", "m1"]
    assert task_at(task, "resp_t1.2") == task
    for nowhere in ("resp_t1.3", "resp_t1.0", "resp_t1.²", "resp_t1." + "9" * 5000):
        assert task_at(task, nowhere) is None
