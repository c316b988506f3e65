"""Runs under openai 3: calls the server, validates what the encoders made, prints both."""

import asyncio
import json
import sys
from typing import Any

import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

TYPES: dict[str, TypeAdapter[Any]] = {
    "chunks": TypeAdapter(ChatCompletionChunk),
    "completions": TypeAdapter(ChatCompletion),
    "events": TypeAdapter(ResponseStreamEvent),
    "responses": TypeAdapter(Response),
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
FUNCTION: dict[str, Any] = {"name": "get_location", "parameters": SCHEMA}


async def story(url: str) -> dict[str, Any]:
    client: Any = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": "where am I?"}]
    tools = [{"type": "function", "function": FUNCTION}]
    asked = await client.chat.completions.create(model="locating", messages=messages, tools=tools)
    call = asked.choices[0].message.tool_calls[0]
    messages.append(asked.choices[0].message)
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "Oakland"})
    stream = await client.chat.completions.create(
        model="locating", messages=messages, tools=tools, stream=True
    )
    chunks = [chunk async for chunk in stream]
    stream = await client.responses.create(
        model="locating", input="where?", tools=[{"type": "function", **FUNCTION}], stream=True
    )
    events = [event async for event in stream]
    return {
        "version": openai.__version__,
        "reason": asked.choices[0].finish_reason,
        "text": "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices),
        "responded": events[-1].response.output_text,
    }


def invalid(made: dict[str, list[Any]]) -> list[str]:
    problems: list[str] = []
    for kind, items in made.items():
        for item in items:
            try:
                TYPES[kind].validate_python(item)
            except ValueError as error:
                problems.append(f"{kind}: {error}")
    return problems


if __name__ == "__main__":
    seen = asyncio.run(story(sys.argv[1]))
    print(json.dumps({**seen, "invalid": invalid(json.load(sys.stdin))}))
