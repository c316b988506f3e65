import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.types import AgentCard, AgentInterface, TaskState
from fastapi import FastAPI
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.apps import App
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.workflow import Workflow
from pydantic import Field
from starlette.applications import Starlette
from starlette.routing import Mount

from aion_adk import A2AApp, to_a2a
from aion_adk.card import Servable
from aion_adk.storage.memory import MemoryTaskStore
from tests.agents import text_event
from tests.serving import HEADERS, listening, reply_of, send, serving

CARD = "/.well-known/agent-card.json"
RPC = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "SendMessage",
    "params": {
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]},
    },
}


class Greeter(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "hello")


async def greet(ctx: Any) -> str:
    """Says hello."""
    return "hello"


def agent() -> Greeter:
    return Greeter(name="greeter", description="Greets.")


def asgi(app: Any, *, base_url: str = "http://agents.example") -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base_url)


async def interface_urls(app: Any, path: str = CARD, **request: Any) -> list[str]:
    async with asgi(app, base_url=request.pop("base_url", "http://agents.example")) as client:
        card = (await client.get(path, **request)).json()
    return [interface["url"] for interface in card["supportedInterfaces"]]


@pytest.mark.parametrize(
    "servable",
    [
        agent(),
        App(name="greeting", root_agent=agent()),
        InMemoryRunner(agent=agent(), app_name="greeting"),
        Workflow(name="flow", edges=[("START", greet)]),
    ],
    ids=["agent", "app", "runner", "workflow"],
)
async def test_an_agent_a_workflow_an_app_and_a_runner_can_be_served(servable: Servable) -> None:
    async with serving(servable) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_mounted_agent_is_found_and_answers_under_its_prefix() -> None:
    def build(_: str) -> FastAPI:
        outer = FastAPI()
        outer.mount("/agents/greeter", to_a2a(agent()))
        return outer

    async with listening(build) as url:
        task = await send(f"{url}/agents/greeter", "hi")
    assert reply_of(task) == "hello"


async def test_the_interfaces_of_a_mounted_agent_carry_the_prefix() -> None:
    """G"""
    inner = Starlette(routes=[Mount("/greeter", to_a2a(agent()))])
    outer = Starlette(routes=[Mount("/agents", inner)])
    urls = await interface_urls(outer, f"/agents/greeter{CARD}")
    assert all(url.startswith("http://agents.example/agents/greeter") for url in urls)


@pytest.mark.parametrize("path", ["/greeter", "/greeter/"])
async def test_a_mounted_agent_answers_with_and_without_the_slash(path: str) -> None:
    outer = Starlette(routes=to_a2a(agent()).mounted("/greeter"))
    async with asgi(outer) as client:
        response = await client.post(path, json=RPC, headers=HEADERS)
    assert response.status_code == 200
    assert response.json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize("path", ["", "/"])
async def test_an_agent_at_the_root_answers_with_and_without_the_slash(path: str) -> None:
    async with serving(agent()) as url, httpx.AsyncClient() as client:
        response = await client.post(f"{url}{path}", json=RPC, headers=HEADERS)
    assert response.status_code == 200


async def test_an_unknown_path_is_not_found_rather_than_redirected() -> None:
    async with asgi(to_a2a(agent())) as client:
        response = await client.get("/nothing/")
    assert response.status_code == 404


async def test_the_public_url_wins_over_the_address_of_the_request() -> None:
    """G"""
    app = to_a2a(agent(), public_url="https://public.example/a/", trust_proxy_headers=True)
    urls = await interface_urls(app, headers={"X-Forwarded-Host": "proxy.example"})
    assert urls[0] == "https://public.example/a/"
    assert all(url.startswith("https://public.example/a") for url in urls)


async def test_trusted_proxy_headers_give_the_address() -> None:
    """G"""
    headers = {
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "proxy.example, inner.example",
        "X-Forwarded-Prefix": "/base/",
    }
    outer = Starlette(routes=[Mount("/greeter", to_a2a(agent(), trust_proxy_headers=True))])
    urls = await interface_urls(outer, f"/greeter{CARD}", headers=headers)
    assert urls[0] == "https://proxy.example/base/greeter/"


async def test_proxy_headers_that_nobody_vouched_for_are_ignored() -> None:
    """G"""
    headers = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    urls = await interface_urls(to_a2a(agent()), headers=headers)
    assert urls[0] == "http://agents.example/"


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ("http://0.0.0.0:9000", "http://127.0.0.1:9000/"),
        ("http://[::]:9000", "http://[::1]:9000/"),
    ],
)
async def test_the_card_never_names_an_address_that_means_every_interface(
    requested: str, expected: str
) -> None:
    """G"""
    urls = await interface_urls(to_a2a(agent()), base_url=requested)
    assert urls[0] == expected


@pytest.mark.parametrize("url", ["http://0.0.0.0:8000", "agents.example", "ftp://agents.example"])
def test_a_public_url_that_no_client_could_use_is_refused(url: str) -> None:
    """G"""
    with pytest.raises(ValueError, match="public_url must be"):
        to_a2a(agent(), public_url=url)


async def test_a_given_card_is_served_as_it_is() -> None:
    """G"""
    interface = AgentInterface(
        url="https://elsewhere.example/rpc", protocol_binding="JSONRPC", protocol_version="1.0"
    )
    card = AgentCard(name="Mine", description="d", version="7", supported_interfaces=[interface])
    app = to_a2a(agent(), card=card)
    assert app.card is card
    assert await interface_urls(app) == ["https://elsewhere.example/rpc"]


class Tools(BaseToolset):
    closed = False

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        return []

    async def close(self) -> None:
        self.closed = True


class Remote(Greeter):
    closed: list[str] = Field(default_factory=list)

    async def aclose(self) -> None:
        self.closed.append(self.name)


class Store(MemoryTaskStore):
    closed = False

    async def close(self) -> None:
        self.closed = True


async def test_the_end_of_the_lifespan_closes_toolsets_agents_and_stores() -> None:
    tools, remote, store = Tools(), Remote(name="remote"), Store()
    llm = LlmAgent(name="llm", tools=[tools], sub_agents=[remote])
    async with serving(llm, task_store=store):
        assert not tools.closed
    assert (tools.closed, remote.closed, store.closed) == (True, ["remote"], True)


async def test_what_fails_to_close_is_logged_and_the_rest_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Stuck(Remote):
        async def aclose(self) -> None:
            raise OSError("no route")

    store = Store()
    app = to_a2a(Stuck(name="stuck"), task_store=store)
    with caplog.at_level(logging.ERROR):
        await app.aclose()
    assert store.closed
    assert "closing stuck failed" in caplog.text


async def test_a_mounted_agent_is_closed_by_the_outer_lifespan() -> None:
    remote = Remote(name="remote")
    inner: A2AApp = to_a2a(remote)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        async with inner.running():
            yield

    outer = Starlette(routes=inner.mounted("/remote"), lifespan=lifespan)
    async with listening(lambda _: outer) as url:
        assert reply_of(await send(f"{url}/remote", "hi")) == "hello"
        assert remote.closed == []
    assert remote.closed == ["remote"]


async def test_closing_twice_closes_once() -> None:
    remote = Remote(name="remote")
    app = to_a2a(remote)
    await app.aclose()
    await app.aclose()
    assert remote.closed == ["remote"]


async def test_a_mounted_agent_with_a_database_answers_without_its_lifespan(
    tmp_path: Path,
) -> None:
    app = to_a2a(agent(), database_url=f"sqlite+aiosqlite:///{tmp_path}/tasks.db")
    async with asgi(Starlette(routes=app.mounted("/greeter"))) as client:
        response = await client.post("/greeter", json=RPC, headers=HEADERS)
    await app.aclose()
    assert response.json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
