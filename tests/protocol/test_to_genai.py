from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from a2a.types import Message, Part
from a2a.utils.errors import InvalidParamsError
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.sessions import InMemorySessionService
from google.genai import types
from google.protobuf.struct_pb2 import Value

from aion_adk.protocol.structs import to_struct, to_value
from aion_adk.protocol.to_genai import mime_type_of, to_content
from tests.agents import agent_of, text_event
from tests.serving import HEADERS, reply_of, send, serving


def parts_of(*parts: Part) -> list[types.Part]:
    return to_content(Message(parts=parts)).parts or []


def test_every_kind_of_part_becomes_its_genai_part_in_order() -> None:
    """A2"""
    assert parts_of(
        Part(text="hello"),
        Part(raw=b"\x00\x01", media_type="image/png", filename="dot.png"),
        Part(url="https://example.org/a.pdf", filename="a.pdf"),
        Part(data=to_value({"k": 1})),
    ) == [
        types.Part(text="hello"),
        types.Part(
            inline_data=types.Blob(data=b"\x00\x01", mime_type="image/png", display_name="dot.png")
        ),
        types.Part(
            file_data=types.FileData(
                file_uri="https://example.org/a.pdf",
                mime_type="application/pdf",
                display_name="a.pdf",
            )
        ),
        types.Part(text='{"k": 1}'),
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"k": 1, "f": 1.5}, '{"f": 1.5, "k": 1}'),
        ({"b": {"z": 1, "a": 2}, "a": [1, {"y": 1, "x": 2}]}, None),
        ({"name": "Zoë 雪 🙂"}, '{"name": "Zoë 雪 🙂"}'),
        ([1, 2.0, None, True], "[1, 2, null, true]"),
        ("text", '"text"'),
        (None, "null"),
        ({}, "{}"),
    ],
)
def test_data_is_readable_json_that_is_the_same_twice(data: Any, text: str | None) -> None:
    """A2"""
    expected = text or '{"a": [1, {"x": 2, "y": 1}], "b": {"a": 2, "z": 1}}'
    assert parts_of(Part(data=to_value(data))) == [types.Part(text=expected)]


@pytest.mark.parametrize(
    ("part", "mime_type"),
    [
        (Part(raw=b"x", media_type="text/csv", filename="a.png"), "text/csv"),
        (Part(raw=b"x", filename="a.png"), "image/png"),
        (Part(url="https://example.org/b.pdf", filename="a.png"), "image/png"),
        (Part(url="https://example.org/b.pdf?c=d.png#e.gif"), "application/pdf"),
        (Part(url="https://example.org/b%2Epdf", filename="noextension"), "application/pdf"),
        (Part(raw=b"x"), "application/octet-stream"),
        (Part(url="https://example.org/"), "application/octet-stream"),
        (Part(url="http://[not-a-url.pdf"), "application/octet-stream"),
    ],
)
def test_the_mime_type_is_declared_or_guessed(part: Part, mime_type: str) -> None:
    """A3"""
    assert mime_type_of(part) == mime_type


def test_a_function_response_part_becomes_one() -> None:
    """A4"""
    part = Part(
        data=to_value({"id": "c1", "name": "ask", "response": {"ok": True, "n": 1}}),
        metadata=to_struct({"adk_type": "function_response"}),
    )
    response = types.FunctionResponse(id="c1", name="ask", response={"ok": True, "n": 1})
    assert parts_of(part) == [types.Part(function_response=response)]


@pytest.mark.parametrize("data", [{"id": 1, "unknown": True}, ["c1"], {"response": "no object"}])
def test_a_malformed_function_response_is_invalid_params(data: Any) -> None:
    """A4"""
    metadata = to_struct({"adk_type": "function_response"})
    with pytest.raises(InvalidParamsError, match="function_response"):
        parts_of(Part(data=to_value(data), metadata=metadata))


EMPTY_PARTS = [Part(), Part(text=""), Part(raw=b""), Part(url=""), Part(data=Value())]


def test_empty_parts_are_left_out() -> None:
    """A5"""
    assert parts_of(*EMPTY_PARTS, Part(text="hello")) == [types.Part(text="hello")]


def test_plain_text_stands_in_for_parts_that_cannot_be_used() -> None:
    """A5"""
    content = to_content(Message(parts=EMPTY_PARTS), plain_text="hello")
    assert content == types.Content(role="user", parts=[types.Part(text="hello")])


def test_a_message_without_a_usable_part_is_invalid_params() -> None:
    """A5"""
    for plain_text in ("", "\n"):
        with pytest.raises(InvalidParamsError, match="no usable part"):
            to_content(Message(parts=EMPTY_PARTS), plain_text=plain_text)


async def echoing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    texts = [part.text or "" for part in (ctx.user_content and ctx.user_content.parts) or []]
    yield text_event(agent, ctx, "|".join(texts))


async def rpc(url: str, method: str, **params: Any) -> dict[str, Any]:
    async with httpx.AsyncClient(timeout=10, verify=False) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await http.post(url, json=body, headers=HEADERS)
    if answer.headers["content-type"].startswith("text/event-stream"):
        return httpx.Response(200, text=answer.text.split("data: ")[1].strip()).json()
    return answer.json()


@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
@pytest.mark.parametrize(
    "parts", [[{"text": ""}, {"text": ""}], [{"video": "x.mp4"}], [{"raw": ""}]]
)
async def test_a_message_with_nothing_in_it_leaves_nothing_behind(
    method: str, parts: list[dict[str, Any]]
) -> None:
    """A5: -32602, no run, no session, no task, and the message id is free again."""
    sessions = InMemorySessionService()
    agent = agent_of(echoing)
    message = {"messageId": "m1", "contextId": "c1", "role": "ROLE_USER", "parts": parts}
    async with serving(agent, session_service=sessions) as url:
        refused = await rpc(url, method, message=message)
        assert refused["error"]["code"] == -32602
        assert not (await sessions.list_sessions(app_name=agent.name)).sessions
        assert not (await rpc(url, "ListTasks"))["result"]["tasks"]
        task = await send(url, "hello", message_id="m1", context_id="c1")
    assert reply_of(task) == "hello"
    session = await sessions.get_session(
        app_name=agent.name, user_id="A2A_USER_c1", session_id="c1"
    )
    assert session
    assert [event.author for event in session.events] == ["user", agent.name]


async def test_an_unknown_part_beside_a_known_one_is_left_out() -> None:
    """A5"""
    parts = [{"video": "x.mp4"}, {"text": "hello"}]
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": parts}
    async with serving(agent_of(echoing)) as url:
        answer = await rpc(url, "SendMessage", message=message)
    assert answer["result"]["task"]["status"]["message"]["parts"] == [{"text": "hello"}]


async def test_the_slash_style_methods_work_on_the_same_endpoint() -> None:
    """A10"""
    message = {"messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}
    async with (
        serving(agent_of(echoing)) as url,
        httpx.AsyncClient(timeout=10, verify=False) as http,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
        answer = (await http.post(url, json=body)).json()
        task = await send(url, "hello")
    assert answer["result"]["kind"] == "task"
    assert answer["result"]["status"]["message"]["parts"] == [{"kind": "text", "text": "hello"}]
    assert reply_of(task) == "hello"
