"""The `n8n` package of npm itself, with workflows imported into it: `make test-n8n`."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.types import Part

from aion_adk.drivers import N8nAgent
from tests.serving import deltas_of, free_port, reply_of, send, serving, stream

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("AION_ADK_TEST_NPM") != "n8n",
        reason="fetches n8n and Node.js 24 from npm: make test-n8n",
    ),
    pytest.mark.timeout(1800),
]


def node(kind: str, version: float, **parameters: Any) -> dict[str, Any]:
    return {
        "id": kind,
        "name": kind,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "position": [0, 0],
        "parameters": {"options": {}, **parameters},
    }


def answering(expression: str) -> dict[str, Any]:
    return node("set", 3.4, mode="raw", jsonOutput=f"={{{{ JSON.stringify({expression}) }}}}")


ECHO = '={{ $("webhook").first().json.body.message + "!" }}'

WORKFLOWS: dict[str, tuple[str, dict[str, Any]]] = {
    "last": ("lastNode", answering('{output: $json.body.message + "!"}')),
    "early": ("onReceived", answering('{output: "too late"}')),
    "node": ("responseNode", node("respondToWebhook", 1.5, respondWith="text", responseBody=ECHO)),
    "stream": ("streaming", node("respondToWebhook", 1.5, respondWith="text", responseBody=ECHO)),
    "session": ("lastNode", answering("{output: $json.body.sessionId}")),
    "file": ("lastNode", answering('{output: $binary.file0.fileName + " " + $json.body.message}')),
    "fails": ("lastNode", node("stopAndError", 1, errorMessage="a secret of the workflow")),
}


def workflow(name: str) -> dict[str, Any]:
    mode, answer = WORKFLOWS[name]
    webhook = node("webhook", 2, httpMethod="POST", path=name, responseMode=mode)
    link = {"main": [[{"node": answer["name"], "type": "main", "index": 0}]]}
    return {
        "id": f"flow{name}",
        "name": name,
        "active": True,
        "nodes": [{**webhook, "webhookId": name}, answer],
        "connections": {"webhook": link},
        "settings": {},
    }


@asynccontextmanager
async def n8n(folder: Path) -> AsyncGenerator[str, None]:
    port = free_port()
    env = {
        **os.environ,
        "HOME": str(folder),
        "N8N_USER_FOLDER": str(folder),
        "N8N_PORT": str(port),
        "N8N_LISTEN_ADDRESS": "127.0.0.1",
        "N8N_DIAGNOSTICS_ENABLED": "false",
    }
    flows = folder / "flows.json"
    flows.write_text(json.dumps([workflow(name) for name in WORKFLOWS]))
    publish = [("publish:workflow", f"--id=flow{name}") for name in WORKFLOWS]
    for arguments in (("import:workflow", f"--input={flows}"), *publish):
        process = await asyncio.create_subprocess_exec("n8n", *arguments, env=env)
        assert await process.wait() == 0, arguments
    server = await asyncio.create_subprocess_exec("n8n", "start", env=env)
    url = f"http://127.0.0.1:{port}"
    try:
        await ready(url)
        yield f"{url}/webhook"
    finally:
        server.terminate()
        await server.wait()


async def ready(url: str) -> None:
    async with asyncio.timeout(300), httpx.AsyncClient() as http:
        while True:
            try:
                if (await http.get(f"{url}/healthz/readiness")).is_success:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.5)


async def test_real_workflows_answer_and_their_refusals_are_explained(tmp_path: Path) -> None:
    async with n8n(tmp_path) as webhook:

        async def ask(path: str, *parts: Part, context_id: str = "talk") -> str:
            async with serving(N8nAgent("flow", f"{webhook}/{path}")) as url:
                return reply_of(await send(url, [Part(text="hi"), *parts], context_id=context_id))

        table = Part(raw=b"a,b", filename="table.csv", media_type="text/csv")
        assert await ask("last") == "hi!"
        assert await ask("node") == "hi!"
        assert await ask("stream") == "hi!"
        assert await ask("file", table) == "table.csv hi"
        assert await ask("session") == await ask("session")
        assert await ask("session") != await ask("session", context_id="other")
        assert "gave no answer" in await ask("early")
        assert "not registered" in await ask("gone")
        assert await ask("fails") == "The n8n workflow answered with status 500."
        async with serving(N8nAgent("flow", f"{webhook}/stream")) as url:
            assert deltas_of(await stream(url, "hi")) == ["hi!"]
