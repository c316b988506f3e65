"""Agents that fail, and what a caller sees of it."""

from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk import inbox_of
from tests.agents import Behaviour, text_event

SECRET = "hunter2"
FIXED = "The request could not be completed. Error id: "


def raising(error: BaseException) -> Behaviour:
    async def fail(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "so far", partial=True)
        raise error

    return fail


async def echoing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield text_event(agent, ctx, f"{inbox_of(ctx).message.parts[0].text}!")


class SecretError(Exception):
    """Its name is nobody's business either."""
