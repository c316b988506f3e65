"""Who may call, and what a caller can see: sections 3.1.11, 13.1 and 13.3 on every binding."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import httpx
import pytest
from a2a.server.context import ServerCallContext
from a2a.types import AgentCard
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk import inbox_of
from tests.agents import text_event
from tests.conformance.errors import TASK_NOT_FOUND, assert_refusal
from tests.conformance.messages import request, send
from tests.conformance.wires import V1, Grpc, Json, JsonRpc, Rest, Wire, call, refusal_of
from tests.serving import free_port, serving

TOKENS = {"Bearer token-a": "alice", "Bearer token-b": "bob"}
ALICE = {**V1, "Authorization": "Bearer token-a"}
BOB = {**V1, "Authorization": "Bearer token-b"}


class Doorman(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inbox = inbox_of(ctx)
        seen = sorted(name for name in inbox.headers if "auth" in name)
        yield text_event(self, ctx, f"{inbox.user_id} {inbox.authenticated} {ctx.user_id} {seen}")


async def by_token(headers: Mapping[str, str]) -> str | None:
    return TOKENS.get(headers.get("authorization", ""))


def for_caller(card: AgentCard, context: ServerCallContext) -> AgentCard:
    copy = AgentCard()
    copy.CopyFrom(card)
    copy.description = f"For {context.user.user_name}."
    return copy


@asynccontextmanager
async def guarded(**options: Any) -> AsyncGenerator[tuple[str, list[Wire]], None]:
    port = free_port()
    defaults = {"authenticate": by_token, "extended_card": for_caller, "grpc_port": port}
    async with (
        serving(Doorman(name="doorman"), **{**defaults, **options}) as url,
        httpx.AsyncClient(timeout=20) as http,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        yield url, [JsonRpc(http, f"{url}/"), Rest(http, url), Grpc(channel)]


async def sent(wire: Wire, headers: Mapping[str, str]) -> Json:
    return (await call(wire, "SendMessage", request("any"), headers=headers))["task"]


async def test_the_verified_name_is_the_user_and_credentials_stay_outside() -> None:
    """A6, B1"""
    async with guarded() as (_, wires):
        for wire in wires:
            task = await sent(wire, ALICE)
            assert task["status"]["message"]["parts"][0]["text"] == "alice True alice []"


@pytest.mark.parametrize("headers", [V1, {**V1, "Authorization": "Bearer guessed"}])
async def test_a_call_without_valid_credentials_is_refused(headers: Mapping[str, str]) -> None:
    """3.3.2: with a challenge over HTTP"""
    async with guarded() as (url, wires), httpx.AsyncClient() as http:
        for path in ("/", "/message:send", "/v1/message:send"):
            response = await http.post(f"{url}{path}", json=request("any"), headers=headers)
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == "Bearer"
            assert response.json()["error"]["status"] == "UNAUTHENTICATED"
        for operation in ("SendMessage", "SendStreamingMessage"):
            refusal = await refusal_of(wires[2], operation, request("any"), headers=headers)
            assert refusal.code == "UNAUTHENTICATED"


async def test_the_card_is_for_everyone_and_declares_how_to_authenticate() -> None:
    """4.5, 8.2"""
    async with guarded() as (url, _), httpx.AsyncClient() as http:
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    assert card["securitySchemes"] == {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
    assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}]


async def test_a_caller_sees_its_own_tasks_alone() -> None:
    """13.1: what is another's is not there"""
    async with guarded() as (_, wires):
        for wire in wires:
            task = await sent(wire, ALICE)
            named = {"id": task["id"]}
            assert (await call(wire, "GetTask", named, headers=ALICE))["id"] == task["id"]
            for operation in ("GetTask", "CancelTask", "SubscribeToTask"):
                assert_refusal(
                    await refusal_of(wire, operation, named, headers=BOB), TASK_NOT_FOUND, wire
                )
            others = await call(wire, "ListTasks", {}, headers=BOB)
            assert others.get("tasks", []) == []
            own = await call(wire, "ListTasks", {}, headers=ALICE)
            assert task["id"] in [each["id"] for each in own["tasks"]]


async def test_the_extended_card_can_depend_on_the_caller() -> None:
    """3.1.11, 13.3"""
    async with guarded() as (_, wires):
        for wire in wires:
            for headers, text in ((ALICE, "For alice."), (BOB, "For bob.")):
                card = await call(wire, "GetExtendedAgentCard", {}, headers=headers)
                assert card["description"] == text


async def test_a_check_that_breaks_lets_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    """F4"""

    def broken(_: Mapping[str, str]) -> str | None:
        raise RuntimeError("directory hunter2 is down")

    async with guarded(authenticate=broken) as (url, wires), httpx.AsyncClient() as http:
        response = await http.get(f"{url}/tasks", headers=ALICE)
        refusal = await refusal_of(wires[2], "ListTasks", {}, headers=ALICE)
    assert (response.status_code, refusal.code) == (401, "UNAUTHENTICATED")
    assert "hunter2" not in response.text + refusal.message
    assert "hunter2" in caplog.text


async def test_without_a_check_nobody_is_authenticated() -> None:
    """A6: a name that nobody verified is not used"""
    async with guarded(authenticate=None) as (_, wires):
        for wire in wires:
            task = await send(wire, "any")
            text = task["status"]["message"]["parts"][0]["text"]
            name = f"A2A_USER_{task['contextId']}"
            assert text == f"{name} False {name} []"


async def test_clients_of_other_protocols_are_asked_too() -> None:
    """A6"""
    asked = {"model": "doorman", "messages": [{"role": "user", "content": "Who am I?"}]}
    async with guarded(openai=True) as (url, _), httpx.AsyncClient(timeout=20) as http:
        path = f"{url}/v1/chat/completions"
        refused = await http.post(path, json=asked)
        answered = await http.post(path, json=asked, headers=ALICE)
    assert refused.status_code == 401
    assert answered.json()["choices"][0]["message"]["content"].startswith("alice True")
