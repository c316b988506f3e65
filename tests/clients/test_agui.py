"""@ag-ui/client: the newest, and the one that CopilotKit pins."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from tests.agents import text_event
from tests.clients.agui_client import HERE, install
from tests.clients.foreign import output_of
from tests.front_ends.conversations import (
    Failing,
    Hello,
    approving_agent,
    locating_agent,
    weather_agent,
)
from tests.serving import serving

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]
Json = dict[str, Any]


class Slow(BaseAgent):
    """Streams a text and waits; sets STOPPED when it is stopped."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "Waiting", partial=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            STOPPED.set()
            raise


STOPPED = asyncio.Event()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["agui-1", "agui-0"])
async def story(request: pytest.FixtureRequest) -> AsyncGenerator[Json, None]:
    """What the client saw, by step."""
    await install()
    STOPPED.clear()
    agents = [
        Hello(name="hello"),
        weather_agent(),
        Failing(name="failing"),
        locating_agent(),
        approving_agent(),
        Slow(name="slow"),
    ]
    async with AsyncExitStack() as stack:
        urls = {
            agent.name: await stack.enter_async_context(serving(agent, agui=True))
            for agent in agents
        }
        result = await output_of("node", "story.mjs", request.param, json.dumps(urls), cwd=HERE)
        yield {**json.loads(result), "version": request.param}


def contents_of(result: Json) -> list[tuple[str, Any]]:
    return [(message["role"], message.get("content")) for message in result["messages"]]


async def test_hello_streams_into_one_message_and_a_second_run_goes_on(story: Json) -> None:
    assert contents_of(story["hello"]) == [("user", "hi"), ("assistant", "Hello.")]
    assert story["hello"]["kinds"] == [
        "RUN_STARTED",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ]
    assert contents_of(story["again"])[2:] == [("user", "again"), ("assistant", "Hello.")]


async def test_thoughts_a_tool_its_result_and_the_state_it_changed_are_shown(story: Json) -> None:
    result = story["weather"]
    assert "rejected" not in result
    answers = [item for item in contents_of(result) if item[0] in ("assistant", "tool")]
    assert answers == [
        ("assistant", "Looking."),
        ("tool", '{"sky": "clear"}'),
        ("assistant", "Clear skies over Oakland."),
    ]
    [called] = [message for message in result["messages"] if message.get("toolCalls")]
    assert called["content"] == "Looking."
    assert called["toolCalls"][0]["function"] == {
        "name": "get_weather",
        "arguments": '{"city": "Oakland"}',
    }
    assert "REASONING_MESSAGE_CONTENT" in result["kinds"]
    assert result["state"] == {"last_city": "Oakland"}


async def test_a_failure_has_its_reason(story: Json) -> None:
    assert story["failing"]["error"] == {"message": "The oven is cold.", "code": "failed"}


async def test_a_tool_of_the_client_pauses_the_run_and_its_message_resumes_it(story: Json) -> None:
    [called] = [item for item in story["locating"]["messages"] if item.get("toolCalls")]
    assert called["content"] == "One moment."
    assert called["toolCalls"][0]["function"]["name"] == "get_location"
    if story["version"] == "agui-1":
        outcome = story["locating"]["outcome"]
        assert outcome == {"type": "success", "pendingToolCallIds": ["call_7"]}
    assert contents_of(story["located"])[-1] == ("assistant", "You are in Oakland.")


async def test_an_interrupt_is_resumed_by_its_id(story: Json) -> None:
    outcome = story["approving"]["outcome"]
    assert outcome["type"] == "interrupt"
    assert "Approve wire_money(amount=5)?" in outcome["interrupts"][0]["message"]
    assert "not addressed by resume" in story["unanswered"]["rejected"]
    assert contents_of(story["approved"])[-1] == ("assistant", "Done.")


async def test_a_client_that_goes_away_cancels_its_run(story: Json) -> None:
    assert story
    await asyncio.wait_for(STOPPED.wait(), 20)
