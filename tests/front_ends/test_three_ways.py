"""One agent, called over A2A, AG-UI and both OpenAI APIs: the conversation is the same."""

from typing import Any

import pytest
from google.adk.agents import BaseAgent

from aion_adk.front_ends.narration import messages_of_turn
from aion_adk.front_ends.speech import message_text
from tests.front_ends.calling import agui_events, openai_client, run_input
from tests.front_ends.conversations import Hello, locating_agent, weather_agent
from tests.front_ends.fold import fold
from tests.serving import send, serving, stream

AGENTS = [lambda: Hello(name="hello"), weather_agent, locating_agent]


async def replies_over_a2a(agent: BaseAgent, *, streaming: bool) -> list[str]:
    async with serving(agent, tool_activity=True) as url:
        if not streaming:
            return [message_text(message) for message in messages_of_turn(await send(url, "hi"))]
        frames = await stream(url, "hi")
    statuses = [frame.status_update.status for frame in frames]
    return [message_text(status.message) for status in statuses if status.HasField("message")]


async def replies_over_agui(agent: BaseAgent) -> list[str]:
    async with serving(agent, agui=True) as url:
        messages = fold(await agui_events(url, run_input("hi")))
    return [item["content"] for item in messages if item["role"] == "assistant"]


async def replies_over_responses(agent: BaseAgent) -> list[str]:
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        response = await client.responses.create(model=agent.name, input="hi")
    return [
        content.text
        for item in response.output
        if item.type == "message"
        for content in item.content
        if content.type == "output_text"
    ]


async def replies_over_chat(agent: BaseAgent) -> list[str]:
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        completion = await client.chat.completions.create(
            model=agent.name, messages=[{"role": "user", "content": "hi"}]
        )
    return (completion.choices[0].message.content or "").split("\n\n")


@pytest.mark.parametrize("make", AGENTS)
async def test_every_protocol_gives_the_same_conversation(make: Any) -> None:
    blocking = [text for text in await replies_over_a2a(make(), streaming=False) if text]
    streamed = [text for text in await replies_over_a2a(make(), streaming=True) if text]
    assert streamed == blocking
    assert await replies_over_agui(make()) == blocking
    assert await replies_over_responses(make()) == blocking
    assert await replies_over_chat(make()) == blocking
