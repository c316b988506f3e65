"""Every folder of samples/ runs under adk's commands and over A2A."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.adk.apps import App

from aion_adk import A2ABridgePlugin, to_a2a
from aion_adk.cli.loader import find_agents
from tests.samples.running import ANSWERS, KEYS, NAMES, SAMPLES, adk_site, run, without_keys
from tests.serving import listening, reply_of, send


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address that `aion-adk serve samples` prints."""
    server = subprocess.Popen(
        [sys.executable, "-m", "aion_adk", "serve", str(SAMPLES), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=without_keys(),
    )
    assert server.stdout
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait(20)


def test_every_sample_has_an_answer_to_expect() -> None:
    assert sorted(ANSWERS) == NAMES


def test_each_app_has_the_name_of_its_folder_and_the_bridge() -> None:
    for name, app in find_agents(str(SAMPLES)).agents.items():
        assert isinstance(app, App)
        assert app.name == name
        assert any(isinstance(plugin, A2ABridgePlugin) for plugin in app.plugins)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_answers_the_terminal_client(url: str, name: str, tmp_path: Path) -> None:
    done = run("aion_adk", "send", f"{url}/a2a/{name}", "hello", "--save-to", str(tmp_path))
    assert done.returncode in (0, 3)
    assert ANSWERS[name] in done.stdout


async def test_every_sample_runs_under_adk_web() -> None:
    """B3, B4"""
    app = adk_site()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://adk", timeout=30) as client:
        assert (await client.get("/list-apps")).json() == NAMES
        for name in NAMES:
            events = await run_sse(client, name)
            assert not any(event.get("errorCode") or event.get("error") for event in events)
            assert ANSWERS[name] in texts(events)


async def test_a2a_can_be_served_next_to_adks_own_api() -> None:
    site = adk_site()
    echo = find_agents(str(SAMPLES / "echo")).agents["echo"]
    site.router.routes[:0] = to_a2a(echo).mounted("/a2a/echo")
    async with listening(lambda _: site) as url:
        task = await send(f"{url}/a2a/echo", "hello")
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{url}/list-apps")).json() == NAMES
    assert reply_of(task).startswith("You said: hello")


async def run_sse(client: httpx.AsyncClient, name: str) -> list[dict[str, Any]]:
    created = await client.post(f"/apps/{name}/users/u/sessions", json={})
    request = {
        "appName": name,
        "userId": "u",
        "sessionId": created.json()["id"],
        "newMessage": {"role": "user", "parts": [{"text": "hello"}]},
        "streaming": True,
    }
    response = await client.post("/run_sse", json=request)
    lines = response.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def texts(events: list[Any]) -> str:
    contents: list[Any] = [event.get("content") or {} for event in events]
    return "\n".join(
        part.get("text", "") for content in contents for part in content.get("parts", [])
    )
