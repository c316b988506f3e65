"""Agents that the tests of the front ends call, and what their tools are called."""

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.tools import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from aion_adk import TaskFailed, emit_file
from tests.agents import text_event
from tests.models import ScriptedModel, call, text

USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=10,
    candidates_token_count=3,
    thoughts_token_count=2,
    total_token_count=15,
)

LOCATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"precise": {"type": "boolean"}},
}


def get_weather(city: str, tool_context: ToolContext) -> dict[str, str]:
    """The weather in a city."""
    tool_context.state["last_city"] = city
    return {"sky": "clear"}


def wire_money(amount: int) -> dict[str, int]:
    """Sends money."""
    return {"sent": amount}


def weather_agent() -> LlmAgent:
    """Thinks, writes, calls a tool of its own, and answers."""
    steps = [
        [
            text("Which city?", thought=True),
            text("Looking."),
            call("get_weather", call_id="call_1", city="Oakland"),
        ],
        [text("Clear skies over Oakland.")],
    ]
    model = ScriptedModel(steps=steps, usage=USAGE)
    return LlmAgent(name="weather", model=model, tools=[get_weather])


def locating_agent() -> LlmAgent:
    """Calls a tool that only the client has, and answers with what it learned."""
    steps = [
        [text("One moment."), call("get_location", call_id="call_7", precise=True)],
        [text("You are in Oakland.")],
    ]
    return LlmAgent(name="locating", model=ScriptedModel(steps=steps))


def approving_agent() -> LlmAgent:
    """Asks for a person's yes before it sends money."""
    steps = [[call("wire_money", call_id="call_9", amount=5)], [text("Done.")]]
    tool = FunctionTool(wire_money, require_confirmation=True)
    return LlmAgent(name="approving", model=ScriptedModel(steps=steps), tools=[tool])


class Hello(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for chunk in ("Hel", "lo."):
            yield text_event(self, ctx, chunk, partial=True)
        yield text_event(self, ctx, "Hello.")


class Failing(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "Trying", partial=True)
        raise TaskFailed("The oven is cold.")


class Breaking(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        raise RuntimeError("the password is hunter2")
        yield


class Reporting(BaseAgent):
    """Sends a file, and answers with what it was sent."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        parts = (ctx.user_content.parts or []) if ctx.user_content else []
        blobs = [part.inline_data for part in parts if part.inline_data]
        emit_file(ctx, url="https://example.com/r.pdf", mime_type="application/pdf", name="report")
        got = ", ".join(f"{blob.mime_type} {blob.data!r}" for blob in blobs)
        yield text_event(self, ctx, f"Got {got}.")
