"""The mapping table for OpenAI clients: events, the content and the events they become."""

from collections.abc import Sequence
from typing import Any

import pytest
from a2a.server.events import Event as A2AEvent
from a2a.types import Part
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from aion_adk.front_ends.openai_chat.encoder import ChatEncoder
from aion_adk.front_ends.openai_responses.encoder import ResponsesEncoder
from aion_adk.protocol.from_genai import data_part
from tests.front_ends.streams import (
    WORKING,
    artifact,
    completed,
    delta,
    delta_end,
    started,
    status,
    text,
    tool_call,
    tool_result,
)

ANY_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def chat(events: Sequence[A2AEvent], **options: Any) -> list[dict[str, Any]]:
    encoder = ChatEncoder(completion_id="chatcmpl-1", model="m", created=7, **options)
    chunks = [chunk for event in events for chunk in encoder.encode(event)] + encoder.finish()
    for chunk in chunks:
        if "error" not in chunk:
            ChatCompletionChunk.model_validate(chunk, strict=True)
    return chunks


def responses(events: Sequence[A2AEvent], **options: Any) -> list[dict[str, Any]]:
    encoder = ResponsesEncoder(response_id="resp_1", model="m", created=7, **options)
    sent = [item for event in events for item in encoder.encode(event)] + encoder.finish()
    for event in sent:
        ANY_EVENT.validate_python(event)
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
    return sent


ONE_MESSAGE = [
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
]
SERVER_CALL = [
    "output_item.added",
    "mcp_call.in_progress",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.done",
]

ROWS: list[Any] = [
    pytest.param([started(), completed()], "", [], id="run"),
    pytest.param(
        [started(), delta("a"), delta_end(), completed(text("ab"))],
        "ab",
        [*ONE_MESSAGE[:3], "output_text.delta", *ONE_MESSAGE[3:]],
        id="text that streamed, and its suffix",
    ),
    pytest.param([started(), completed(text("ab"))], "ab", ONE_MESSAGE, id="whole text"),
    pytest.param(
        [started(), delta("a"), delta_end(), completed(text("z"))],
        "a\n\nz",
        [*ONE_MESSAGE, *ONE_MESSAGE],
        id="streamed text is kept when the reply is another",
    ),
    pytest.param(
        [
            started(),
            status(WORKING, tool_call("a", x=1)),
            status(WORKING, tool_result("a", {"ok": 1}), message_id="m2"),
            completed(),
        ],
        "",
        [*SERVER_CALL, "mcp_call.completed", "output_item.done"],
        id="the server's tool",
    ),
    pytest.param(
        [
            started(),
            status(WORKING, tool_call("a", x=1)),
            status(WORKING, tool_result("a", {"error": "no"}), message_id="m2"),
            completed(),
        ],
        "",
        [*SERVER_CALL, "mcp_call.failed", "output_item.done"],
        id="the server's tool fails",
    ),
    pytest.param(
        [started(), status(WORKING, tool_call("a", x=1)), completed()],
        "",
        [*SERVER_CALL, "mcp_call.failed", "output_item.done"],
        id="the server's tool has no result",
    ),
    pytest.param(
        [started(), artifact(Part(url="https://x.org/a", filename="a")), completed(text("b"))],
        "[a](https://x.org/a)\n\nb",
        [*ONE_MESSAGE, *ONE_MESSAGE],
        id="artifact by url",
    ),
    pytest.param(
        [started(), completed(text("b"), data_part({"n": 1}))],
        'b\n\n```json\n{\n  "n": 1\n}\n```',
        [*ONE_MESSAGE, *ONE_MESSAGE],
        id="data",
    ),
    pytest.param(
        [started(), completed(Part(raw=b"abc", media_type="image/png", filename="i.png"))],
        "[file: i.png, image/png, 3 bytes]",
        ONE_MESSAGE,
        id="bytes",
    ),
]
