from typing import Any

import httpx
import pytest
from google.adk.agents import BaseAgent

from aion_adk.server.directory import Directory, directory_of
from aion_adk.server.options import ServerOptions
from tests.agents import Named
from tests.serving import listening, reply_of, send

HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


def directory(*agents: BaseAgent, several: bool = True, **options: Any) -> Directory:
    found = {agent.name: agent for agent in agents}
    return directory_of(found, ServerOptions(**options), several=several)


def client(app: Directory) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agents.example")


async def test_each_agent_answers_under_its_own_name() -> None:
    app = directory(Named(name="anna"), Named(name="bert"))
    async with listening(lambda _: app) as url:
        assert reply_of(await send(f"{url}/a2a/anna", "hi")) == "I am anna"
        assert reply_of(await send(f"{url}/a2a/bert/", "hi")) == "I am bert"


async def test_a_single_agent_answers_at_the_root_and_is_listed_there() -> None:
    app = directory(Named(name="anna"), several=False)
    async with listening(lambda _: app) as url:
        assert reply_of(await send(url, "hi")) == "I am anna"
        async with httpx.AsyncClient() as http:
            page = await http.get(url, headers={"Accept": HTML})
    assert "<h1>1 agent</h1>" in page.text


async def test_the_index_is_json_for_those_who_ask_for_it() -> None:
    app = directory(Named(name="anna", description="Knows."))
    async with client(app) as http:
        response = await http.get("/", headers={"Accept": "application/json"})
    assert response.json() == {
        "agents": [
            {
                "name": "anna",
                "description": "Knows.",
                "url": "http://agents.example/a2a/anna",
                "card": "http://agents.example/a2a/anna/.well-known/agent-card.json",
            }
        ]
    }


@pytest.mark.parametrize("accept", [HTML, "*/*", "text/html, application/json"])
async def test_the_index_is_a_page_for_everybody_else(accept: str) -> None:
    async with client(directory(Named(name="anna"))) as http:
        response = await http.get("/", headers={"Accept": accept})
    assert response.headers["content-type"].startswith("text/html")


async def test_what_an_agent_is_called_cannot_become_part_of_the_page() -> None:
    agent = Named(name="anna", description='<script>alert(1)</script> & "more"')
    async with client(directory(agent)) as http:
        page = (await http.get("/")).text
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in page


async def test_a_host_name_cannot_become_part_of_the_page() -> None:
    async with client(directory(Named(name="anna"))) as http:
        page = (await http.get("/", headers={"Host": 'a"><script>x'})).text
    assert "<script>" not in page


async def test_the_public_url_is_in_the_index_and_in_every_card() -> None:
    app = directory(Named(name="anna"), public_url="https://public.example/base/")
    async with client(app) as http:
        index = await http.get("/", headers={"Accept": "application/json"})
        card = await http.get("/a2a/anna/.well-known/agent-card.json")
    assert index.json()["agents"][0]["url"] == "https://public.example/base/a2a/anna"
    url = card.json()["supportedInterfaces"][0]["url"]
    assert url == "https://public.example/base/a2a/anna/"


async def test_every_agent_is_closed_at_the_end() -> None:
    agents = [Named(name="anna"), Named(name="bert")]
    async with listening(lambda _: directory(*agents)):
        pass
    assert [agent.closed for agent in agents] == [True, True]


def test_one_grpc_port_cannot_be_shared() -> None:
    with pytest.raises(ValueError, match="grpc_port is the port of one agent"):
        directory(Named(name="anna"), Named(name="bert"), grpc_port=50051)
