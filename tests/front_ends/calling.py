"""Calls as clients of AG-UI and of OpenAI's APIs make them."""

import json
from typing import Any

import httpx
from openai import AsyncOpenAI


def run_input(text: str, **fields: Any) -> dict[str, Any]:
    message = {"id": "u1", "role": "user", "content": text}
    return {"threadId": "thread", "runId": "run", "messages": [message], **fields}


async def agui_events(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(f"{url}/agui", json=body)
    frames = answer.text.split("\n\n")
    return [json.loads(frame.removeprefix("data: ")) for frame in frames if frame]


def openai_client(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
