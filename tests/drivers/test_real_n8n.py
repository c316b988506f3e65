"""The `n8n` package of npm itself, with a workflow imported into it: `make test-n8n`."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from aion_adk.drivers import N8nAgent
from tests.serving import reply_of, send, serving

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("AION_ADK_TEST_N8N"),
        reason="fetches n8n and Node.js 24 from npm: make test-n8n",
    ),
    pytest.mark.timeout(1800),
]

N8N = ("npx", "--yes", "--package", "node@24", "--package", "n8n@2", "n8n")


def workflow(name: str, mode: str) -> dict[str, Any]:
    webhook: dict[str, Any] = {
        "id": f"hook-{name}",
        "webhookId": f"hook-{name}",
        "name": "Webhook",
        "type": "n8n-nodes-base.webhook",
        "typeVersion": 2,
        "position": [0, 0],
        "parameters": {"httpMethod": "POST", "path": name, "responseMode": mode, "options": {}},
    }
    answer: dict[str, Any] = {
        "id": f"answer-{name}",
        "name": "Answer",
        "type": "n8n-nodes-base.set",
        "typeVersion": 3.4,
        "position": [200, 0],
        "parameters": {
            "mode": "raw",
            "jsonOutput": '={{ JSON.stringify({output: $json.body.message + "!"}) }}',
            "options": {},
        },
    }
    link = {"main": [[{"node": "Answer", "type": "main", "index": 0}]]}
    return {
        "id": f"flow{name}",
        "name": name,
        "active": True,
        "nodes": [webhook, answer],
        "connections": {"Webhook": link},
        "settings": {},
    }


@asynccontextmanager
async def n8n(folder: Path) -> AsyncGenerator[str, None]:
    command = os.environ.get("N8N_COMMAND", "").split() or N8N
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {
        **os.environ,
        "HOME": str(folder),
        "N8N_USER_FOLDER": str(folder),
        "N8N_PORT": str(port),
        "N8N_LISTEN_ADDRESS": "127.0.0.1",
        "N8N_DIAGNOSTICS_ENABLED": "false",
    }
    flows = folder / "flows.json"
    flows.write_text(json.dumps([workflow("last", "lastNode"), workflow("early", "onReceived")]))
    for arguments in (
        ("import:workflow", f"--input={flows}"),
        ("publish:workflow", "--id=flowlast"),
        ("publish:workflow", "--id=flowearly"),
    ):
        process = await asyncio.create_subprocess_exec(*command, *arguments, env=env)
        assert await process.wait() == 0, arguments
    server = await asyncio.create_subprocess_exec(*command, "start", env=env)
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


async def test_a_real_workflow_answers_and_its_refusals_are_explained(tmp_path: Path) -> None:
    async with n8n(tmp_path) as webhook:
        answers: dict[str, str] = {}
        for path in ("last", "early", "gone"):
            async with serving(N8nAgent("flow", f"{webhook}/{path}")) as url:
                answers[path] = reply_of(await send(url, "hi"))
    assert answers["last"] == "hi!"
    assert answers["early"].startswith("The n8n workflow was started but gave no answer")
    assert answers["gone"].startswith("The n8n webhook is not registered")
