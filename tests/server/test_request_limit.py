"""Requests that are too large, on every binding."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import httpx
import pytest
from a2a.types import TaskState, a2a_pb2_grpc
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from tests.serving import HEADERS, free_port, request_of, send, serving

LIMIT = 10_000


class Silent(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        return
        yield


@asynccontextmanager
async def limited() -> AsyncGenerator[tuple[str, httpx.AsyncClient], None]:
    agent = Silent(name="silent")
    async with serving(agent, max_request_bytes=LIMIT) as url, httpx.AsyncClient() as http:
        yield url, http


async def chunks() -> AsyncGenerator[bytes, None]:
    for _ in range(20):
        yield b"x" * 1_000


@pytest.mark.parametrize("path", ["/", "/message:send"])
async def test_a_request_with_too_large_a_length_is_refused_unread(path: str) -> None:
    async with limited() as (url, http):
        answer = await http.post(f"{url}{path}", content=b"x" * (LIMIT + 1), headers=HEADERS)
        after = await send(url, "still there?")
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == f"A request may have at most {LIMIT} bytes."
    assert after.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_request_without_a_length_is_read_up_to_the_limit() -> None:
    async with limited() as (url, http):
        answer = await http.post(f"{url}/", content=chunks(), headers=HEADERS)
        after = await send(url, "still there?")
    assert answer.json()["error"]["message"] == "Payload too large"
    assert after.status.state == TaskState.TASK_STATE_COMPLETED


async def test_grpc_refuses_what_is_too_large() -> None:
    port = free_port()
    async with (
        serving(Silent(name="silent"), max_request_bytes=LIMIT, grpc_port=port),
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        stub: Any = a2a_pb2_grpc.A2AServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.SendMessage(request_of("x" * (LIMIT + 1)))
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
