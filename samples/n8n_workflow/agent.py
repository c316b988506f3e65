"""An n8n workflow as an agent.

Set `N8N_WEBHOOK_URL` to the production URL of a webhook. Without it a stand-in answers, in
this process, as a workflow with an AI Agent node that streams would.
"""

import json
import os
from collections.abc import AsyncIterator

import httpx
from google.adk.apps import App

from aion_adk import A2ABridgePlugin
from aion_adk.drivers import N8nAgent


class StandIn(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        message: str = json.loads(await request.aread())["message"]
        words = ["The workflow ", "got: ", message]
        frames = [{"type": "begin"}, *({"type": "item", "content": word} for word in words)]
        return httpx.Response(200, content=_lines([*frames, {"type": "end"}]))


async def _lines(frames: list[dict[str, str]]) -> AsyncIterator[bytes]:
    for frame in frames:
        yield json.dumps(frame).encode() + b"\n"


url = os.environ.get("N8N_WEBHOOK_URL")
root_agent = N8nAgent(
    "n8n_workflow",
    url or "http://n8n.invalid/webhook/stand-in",
    client=None if url else httpx.AsyncClient(transport=StandIn()),
    description="Hands each message to an n8n workflow.",
    timeout=60,
)
app = App(name="n8n_workflow", root_agent=root_agent, plugins=[A2ABridgePlugin()])
