"""JSON-RPC calls are answered as a2a-sdk answers them, streams included."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.routes import create_jsonrpc_routes
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    Part,
    SendMessageRequest,
    Task,
    TaskState,
    TaskStatus,
)
from a2a.utils.errors import ContentTypeNotSupportedError
from starlette.applications import Starlette
from starlette.routing import Route

from aion_adk.front_ends.jsonrpc import JsonRpc
from aion_adk.protocol.from_genai import agent_message
from aion_adk.storage.memory import MemoryTaskStore
from aion_adk.tasks.guarded_handler import GuardedHandler
from aion_adk.tasks.handler import BridgeRequestHandler
from aion_adk.tasks.readers import Reader
from tests.serving import HEADERS, listening

OURS, THEIRS = "/ours", "/theirs"
CARD = AgentCard(name="echo", capabilities=AgentCapabilities(streaming=True))


class Echo(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        reply = agent_message([Part(text=text), Part(data={"string_value": text})], message_id="r")
        status = TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=reply)
        task = Task(id=context.task_id, context_id=context.context_id, status=status)
        await event_queue.enqueue_event(task)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


class Watched(Reader):
    """Sets an event when it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = asyncio.Event()

    async def aclose(self) -> None:
        await super().aclose()
        self.closed.set()


class Streaming(BridgeRequestHandler):
    """Streams a task, then an error if it has one."""

    def __init__(self, *, error: Exception | None = None) -> None:
        super().__init__(Echo(), MemoryTaskStore(), CARD)
        self.readers: list[Watched] = []
        self._error = error

    async def open_stream(self, params: SendMessageRequest, context: ServerCallContext) -> Reader:
        reader = Watched()
        self.readers.append(reader)
        reader.show(Task(id="t", context_id=params.message.context_id))
        if self._error:
            reader.close(self._error)
        return reader


def echoing() -> BridgeRequestHandler:
    return BridgeRequestHandler(Echo(), MemoryTaskStore(), CARD)


def app_of(handler: BridgeRequestHandler) -> Starlette:
    guarded = GuardedHandler(handler, extensions=())
    (theirs,) = create_jsonrpc_routes(guarded, THEIRS, enable_v0_3_compat=True)
    rpc = JsonRpc(guarded, others=theirs.endpoint)
    return Starlette(routes=[Route(OURS, rpc.answer, methods=["POST"]), theirs])


def client_for(handler: BridgeRequestHandler) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app_of(handler))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=HEADERS)


def call(method: str = "SendMessage", **changes: Any) -> dict[str, Any]:
    message = {"messageId": "m", "contextId": "c", "role": "ROLE_USER", "parts": [{"text": "hé"}]}
    params = {"message": message}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **changes}


def without_ids(answer: Any) -> Any:
    match answer:
        case {"task": {"id": _, **rest}}:
            return {"task": rest}
        case {"result": result, **rest}:
            return {"result": without_ids(result), **rest}
        case _:
            return answer


def events_of(response: httpx.Response) -> list[tuple[str, Any]]:
    """The events of a stream: their names and their data."""
    events = list[tuple[str, Any]]()
    for block in response.text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if "data" in fields:
            events.append((fields.get("event", "message"), json.loads(fields["data"])))
    return events


BODIES: dict[str, Any] = {
    "a plain call": call(),
    "an id that is a text": call(id="one"),
    "an id that is a number with a fraction": call(id=1.5),
    "an id that is a boolean": call(id=True),
    "no id": {key: value for key, value in call().items() if key != "id"},
    "another version of JSON-RPC": call(jsonrpc="1.0"),
    "no version of JSON-RPC": {key: value for key, value in call().items() if key != "jsonrpc"},
    "a batch": [call()],
    "a number": 7,
    "no params": {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"},
    "params that are a list": call(params=[1]),
    "params that are a text": call(params="message"),
    "params that are null": call(params=None),
    "a field of the wrong type": call(params={"message": {"messageId": 7}}),
    "a field that nobody knows": call(params={"message": call()["params"]["message"], "new": 1}),
    "no message": call(params={}),
    "a message without parts": call(params={"message": {"messageId": "m", "role": "ROLE_USER"}}),
    "a task that does not exist": call(
        params={"message": {**call()["params"]["message"], "taskId": "nowhere"}}
    ),
    "a member that JSON-RPC does not have": call(more=1),
    "an unknown method": call("Send"),
    "a method that is a number": {**call(), "method": 7},
    "another method": call("GetTask", params={"id": "nowhere"}),
    "a subscription to nothing": call("SubscribeToTask", params={"id": "nowhere"}),
    "a stream without a message": call("SendStreamingMessage", params={}),
}


@pytest.mark.parametrize("name", BODIES)
async def test_a_call_is_answered_as_a2a_sdk_answers_it(name: str) -> None:
    async with client_for(echoing()) as client:
        ours = await client.post(OURS, json=BODIES[name])
        theirs = await client.post(THEIRS, json=BODIES[name])
    assert (ours.status_code, without_ids(ours.json())) == (200, without_ids(theirs.json()))
    assert ours.headers["content-type"] == theirs.headers["content-type"]


@pytest.mark.parametrize("version", ["", "0.3", "1", "1.0.1", "2.0", "x"])
async def test_a_call_of_another_protocol_version_is_answered_as_a2a_sdk_answers_it(
    version: str,
) -> None:
    headers = {"A2A-Version": version}
    async with client_for(echoing()) as client:
        ours = await client.post(OURS, json=call(), headers=headers)
        theirs = await client.post(THEIRS, json=call(), headers=headers)
    assert without_ids(ours.json()) == without_ids(theirs.json())


async def test_a_body_that_is_no_json_is_answered_as_a2a_sdk_answers_it() -> None:
    async with client_for(echoing()) as client:
        ours = await client.post(OURS, content=b'{"jsonrpc": ')
        theirs = await client.post(THEIRS, content=b'{"jsonrpc": ')
    assert ours.json() == theirs.json()


@pytest.mark.parametrize("version", ["1.0", ""])
@pytest.mark.parametrize("body", [b'{"jsonrpc": \xff', b"[" * 100_000, b"1" * 5000])
async def test_a_body_that_python_cannot_read_is_a_parse_error(body: bytes, version: str) -> None:
    """F4: Python's own text about it stays here."""
    headers = {"A2A-Version": version}
    async with client_for(echoing()) as client:
        response = await client.post(OURS, content=body, headers=headers)
    error = {"code": -32700, "message": "Parse error"}
    assert response.json() == {"jsonrpc": "2.0", "id": None, "error": error}


async def test_an_id_that_no_encoding_can_hold_comes_back_with_an_error() -> None:
    async with client_for(echoing()) as client:
        body = json.dumps(call("SubscribeToTask", params={"id": "nowhere"}, id="\ud800"))
        response = await client.post(OURS, content=body)
    assert response.json()["id"] == "\ud800"
    assert "error" in response.json()


async def test_a_stream_has_the_events_that_a2a_sdk_sends() -> None:
    async with client_for(echoing()) as client:
        ours = await client.post(OURS, json=call("SendStreamingMessage"))
        theirs = await client.post(THEIRS, json=call("SendStreamingMessage"))
    events = [(name, without_ids(event)) for name, event in events_of(ours)]
    assert events == [(name, without_ids(event)) for name, event in events_of(theirs)]
    assert len(events) == 1
    for header in ("content-type", "cache-control", "x-accel-buffering"):
        assert ours.headers[header] == theirs.headers[header]


async def test_an_error_in_the_middle_of_a_stream_ends_it_with_an_error_event() -> None:
    error = ContentTypeNotSupportedError("no pictures")
    async with client_for(Streaming(error=error)) as client:
        ours = await client.post(OURS, json=call("SendStreamingMessage"))
        theirs = await client.post(THEIRS, json=call("SendStreamingMessage"))
    assert events_of(ours) == events_of(theirs)
    assert [name for name, _ in events_of(ours)] == ["message", "error"]


async def test_a_client_that_leaves_ends_the_stream() -> None:
    """E8"""
    handler = Streaming()
    async with (
        listening(lambda _: app_of(handler)) as url,
        httpx.AsyncClient(base_url=url, headers=HEADERS, timeout=20) as client,
    ):
        async with client.stream("POST", OURS, json=call("SendStreamingMessage")) as response:
            async for line in response.aiter_lines():
                assert '"id":"t"' in line
                break
        async with asyncio.timeout(5):
            await handler.readers[0].closed.wait()
