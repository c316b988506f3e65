"""Section 3.3.4: what is not declared is refused, and what is required is asked for."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import httpx
import pytest
from a2a.server.context import ServerCallContext
from a2a.types import AgentCapabilities, AgentCard, AgentExtension, Task

from aion_adk import build_agent_card
from aion_adk.storage.memory import MemoryTaskStore
from samples.conformance.agent import app
from tests.conformance.conftest import CITATIONS, TRACES, Server
from tests.conformance.errors import (
    EXTENSION_REQUIRED,
    INTERNAL,
    NO_EXTENDED_CARD,
    PUSH_NOT_SUPPORTED,
    TASK_NOT_FOUND,
    UNSUPPORTED_OPERATION,
    Error,
    assert_refusal,
)
from tests.conformance.messages import request
from tests.conformance.wires import V1, Grpc, Json, JsonRpc, Rest, Wire, refusal_of
from tests.serving import free_port, serving

WITH = "A2A-Extensions"


@asynccontextmanager
async def wires_of(**options: Any) -> AsyncGenerator[list[Wire], None]:
    port = free_port()
    async with (
        serving(app, grpc_port=port, **options) as url,
        httpx.AsyncClient(timeout=20) as http,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        yield [JsonRpc(http, f"{url}/"), Rest(http, url), Grpc(channel)]


def card(capabilities: AgentCapabilities) -> AgentCard:
    return build_agent_card(app, url="http://agents.example", capabilities=capabilities)


async def refused(wires: list[Wire], operation: str, params: Json, error: Error) -> None:
    for wire in wires:
        assert_refusal(await refusal_of(wire, operation, params), error, wire)


async def test_streams_that_are_not_declared_are_refused() -> None:
    """3.3.4"""
    async with wires_of(card=card(AgentCapabilities(streaming=False))) as wires:
        await refused(wires, "SendStreamingMessage", request("tck-x"), UNSUPPORTED_OPERATION)
        await refused(wires, "SubscribeToTask", {"id": "nobody"}, UNSUPPORTED_OPERATION)


PUSH: dict[str, Json] = {
    "CreateTaskPushNotificationConfig": {"taskId": "any", "url": "https://hooks.example/"},
    "GetTaskPushNotificationConfig": {"taskId": "any", "id": "hook"},
    "ListTaskPushNotificationConfigs": {"taskId": "any"},
    "DeleteTaskPushNotificationConfig": {"taskId": "any", "id": "hook"},
}


async def test_push_notifications_that_are_not_declared_are_refused() -> None:
    """3.3.4"""
    async with wires_of(push_notifications=False) as wires:
        for operation, params in PUSH.items():
            await refused(wires, operation, params, PUSH_NOT_SUPPORTED)
        webhook = {"taskPushNotificationConfig": {"url": "https://hooks.example/"}}
        asked = request("tck-x", configuration=webhook)
        await refused(wires, "SendMessage", asked, PUSH_NOT_SUPPORTED)


async def test_an_extended_card_that_is_not_declared_is_refused() -> None:
    """3.3.4"""
    async with wires_of() as wires:
        await refused(wires, "GetExtendedAgentCard", {}, UNSUPPORTED_OPERATION)


async def test_an_extended_card_that_is_declared_but_missing_is_an_error_of_its_own() -> None:
    """3.3.4"""
    declared = AgentCapabilities(streaming=True, extended_agent_card=True)
    async with wires_of(card=card(declared)) as wires:
        await refused(wires, "GetExtendedAgentCard", {}, NO_EXTENDED_CARD)


async def test_a_required_extension_must_be_activated() -> None:
    """3.3.4, 4.6.3: for every operation, and no other version will do"""
    required = AgentExtension(uri=CITATIONS, required=True)
    async with wires_of(extensions=[required, AgentExtension(uri=TRACES)]) as wires:
        await refused(wires, "SendMessage", request("tck-x"), EXTENSION_REQUIRED)
        await refused(wires, "SendStreamingMessage", request("tck-x"), EXTENSION_REQUIRED)
        await refused(wires, "GetTask", {"id": "nobody"}, EXTENSION_REQUIRED)
        for wire in wires:
            older = {**V1, WITH: f"{TRACES}, https://extensions.example/citations/v0"}
            refusal = await refusal_of(wire, "GetTask", {"id": "nobody"}, headers=older)
            assert_refusal(refusal, EXTENSION_REQUIRED, wire)
            active = {**V1, WITH: f"{TRACES}, {CITATIONS}"}
            refusal = await refusal_of(wire, "GetTask", {"id": "nobody"}, headers=active)
            assert_refusal(refusal, TASK_NOT_FOUND, wire)


@pytest.mark.asyncio(loop_scope="module")
async def test_active_extensions_are_named_in_the_answer(server: Server, wire: Wire) -> None:
    """4.6: the ones asked for that the agent has"""
    asked = {**V1, WITH: f"https://extensions.example/unknown,{TRACES}"}
    answer = await wire.answer("SendMessage", request("tck-complete-task"), headers=asked)
    assert answer.headers["a2a-extensions"] == TRACES
    bare = await wire.answer("SendMessage", request("tck-complete-task"))
    assert "a2a-extensions" not in bare.headers


@pytest.mark.asyncio(loop_scope="module")
async def test_a_stream_names_them_too(server: Server) -> None:
    asked = {**V1, WITH: CITATIONS}
    url = f"{server.url}/message:stream"
    async with server.http.stream(
        "POST", url, headers=asked, json=request("tck-stream-001")
    ) as response:
        assert response.headers["a2a-extensions"] == CITATIONS
        await response.aread()


class Broken(MemoryTaskStore):
    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        raise RuntimeError("postgresql://admin:hunter2@db.internal is down")


async def test_the_cause_of_an_unexpected_failure_stays_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """F4: nothing of the exception leaves, on any binding; the log has its id"""
    async with wires_of(task_store=Broken()) as wires:
        for wire in wires:
            for operation in ("GetTask", "SubscribeToTask"):
                refusal = await refusal_of(wire, operation, {"id": "any"})
                assert_refusal(refusal, INTERNAL, wire)
                assert "hunter2" not in repr(refusal)
                assert "RuntimeError" not in repr(refusal)
                assert refusal.message.removeprefix("Internal error. Error id: ") in caplog.text
