"""Every row of the mapping table for OpenAI clients, valid for the types of `openai`."""

from typing import Any

import pytest
from a2a.server.events import Event as A2AEvent
from a2a.types import Part, TaskState
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from aion_adk.front_ends.openai_chat.encoder import ChatEncoder
from aion_adk.front_ends.openai_responses.encoder import ResponsesEncoder
from tests.front_ends.openai_rows import ROWS, chat, responses
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
)

PAUSED = TaskState.TASK_STATE_INPUT_REQUIRED


def content_of(chunks: list[dict[str, Any]]) -> str:
    choices = [choice for chunk in chunks for choice in chunk.get("choices", [])]
    return "".join(choice["delta"].get("content", "") for choice in choices)


def short(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


@pytest.mark.parametrize(("events", "content", "between"), ROWS)
def test_every_row_of_the_table(events: list[A2AEvent], content: str, between: list[str]) -> None:
    chunks, sent = chat(events), responses(events)
    assert content_of(chunks) == content
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert short(sent) == ["created", "in_progress", *between, "completed"]


def test_a_pending_call_is_the_clients_to_run() -> None:
    events = [started(), status(PAUSED, text("Where?"), tool_call("a", pending=True, x=1))]
    chunks = chat(events)
    calls = [c["choices"][0]["delta"]["tool_calls"][0] for c in chunks[2:4]]
    function = {"name": "f", "arguments": ""}
    assert calls == [
        {"index": 0, "id": "a", "type": "function", "function": function},
        {"index": 0, "function": {"arguments": '{"x": 1}'}},
    ]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    sent = responses(events)
    assert short(sent)[-5:] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert sent[-3]["name"] == "f"


def test_a_pause_without_a_call_just_stops() -> None:
    chunks = chat([started(), status(PAUSED, text("Which one?"))])
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert content_of(chunks) == "Which one?"


def test_arguments_stream_to_the_client_that_runs_the_call() -> None:
    events = [
        started(),
        status(WORKING, call_arguments("a", '{"x"'), message_id="1", chunk=True),
        status(WORKING, call_arguments("a", ": 1}"), message_id="1", chunk=True),
        status(WORKING, call_arguments("a", '{"x": 1}'), message_id="2"),
        completed(),
    ]
    deltas = [e["delta"] for e in responses(events) if e["type"].endswith("arguments.delta")]
    assert deltas == ['{"x"', ": 1}"]


def test_thoughts_are_reasoning_and_no_content() -> None:
    events = [started(), status(WORKING, thought("hm", "c2ln")), completed(text("ok"))]
    chunks = chat(events)
    reasoning = [chunk["choices"][0]["delta"].get("reasoning_content") for chunk in chunks]
    assert [item for item in reasoning if item] == ["hm"]
    sent = responses(events)
    assert short(sent)[2:8] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ]
    assert sent[7]["item"]["encrypted_content"] == "c2ln"


@pytest.mark.parametrize(
    ("last", "code", "kind"),
    [
        (status(TaskState.TASK_STATE_FAILED, text("no")), "failed", "response.failed"),
        (status(TaskState.TASK_STATE_REJECTED, text("no")), "rejected", "response.failed"),
        (status(TaskState.TASK_STATE_CANCELED), "canceled", "response.incomplete"),
        (status(WORKING), "stream_incomplete", "response.failed"),
    ],
)
def test_an_error_is_the_last_thing_sent(last: A2AEvent, code: str, kind: str) -> None:
    events = [started(), delta("a"), last]
    assert chat(events)[-1]["error"]["code"] == code
    sent = responses(events)
    assert sent[-1]["type"] == kind
    assert sent[-1]["response"]["output"][0]["status"] == "completed"


def test_messages_that_stream_at_once_are_sent_one_after_the_other_in_chat() -> None:
    other, third = "aion:stream-delta:b", "aion:stream-delta:c"
    events = [
        started(),
        delta("a"),
        delta("x", lane=other),
        artifact(Part(url="https://x.org/f", filename="f")),
        delta("1", lane=third),
        delta("b"),
        delta("y", lane=other),
        delta_end(lane=third),
        delta_end(lane=other),
        delta_end(),
        completed(text("ab"), text("xy"), text("1")),
    ]
    assert content_of(chat(events)) == "ab\n\nxy\n\n[f](https://x.org/f)\n\n1"


def test_an_artifact_that_grows_while_text_streams_is_shown_whole() -> None:
    grown = [artifact(text("x")), artifact(text("y"), append=True)]
    sent = chat([started(), delta("a"), *grown, delta("b"), delta_end(), completed(text("ab"))])
    assert content_of(sent) == "ab\n\nx\n\ny"


def test_usage_is_counted_when_it_is_asked_for() -> None:
    usage = {
        "prompt_token_count": 5,
        "candidates_token_count": 2,
        "thoughts_token_count": 1,
        "cached_content_token_count": 4,
    }
    events = [started(), completed(text("a"), usage=usage)]
    assert "usage" not in chat(events)[-1]
    counted = chat(events, include_usage=True)[-1]
    assert counted["choices"] == []
    assert counted["usage"]["prompt_tokens_details"] == {"cached_tokens": 4}
    assert (counted["usage"]["completion_tokens"], counted["usage"]["total_tokens"]) == (3, 8)
    assert responses(events)[-1]["response"]["usage"] == {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 1},
        "total_tokens": 8,
    }


def test_a_whole_answer_is_what_its_stream_adds_up_to() -> None:
    task = started(TaskState.TASK_STATE_COMPLETED)
    task.history.append(message(text("Look."), tool_call("a"), message_id="m0"))
    task.status.message.CopyFrom(message(text("Done."), message_id="m1"))
    chat_encoder = ChatEncoder(completion_id="chatcmpl-1", model="m", created=7)
    completion = chat_encoder.completion(task)
    response = ResponsesEncoder(response_id="resp_1", model="m", created=7).response_to(task)
    whole = ChatCompletion.model_validate(completion, strict=True)
    assert whole.choices[0].message.content == "Look.\n\nDone."
    output = Response.model_validate(response)
    assert [item.type for item in output.output] == ["message", "mcp_call", "message"]


def test_a_task_still_at_work_is_a_response_in_progress() -> None:
    response = ResponsesEncoder(response_id="resp_1", model="m", created=7).response_to(started())
    assert (response["status"], response["output"]) == ("in_progress", [])
