"""What small agents in tests do and say."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types

Behaviour = Callable[[BaseAgent, InvocationContext], AsyncGenerator[Event, None]]


class Scripted(BaseAgent):
    """An agent that does what one async generator function says."""

    behaviour: Behaviour

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async for event in self.behaviour(self, ctx):
            yield event


def agent_of(behaviour: Behaviour, *, name: str = "agent", **fields: Any) -> Scripted:
    return Scripted(name=name, behaviour=behaviour, **fields)


def said(
    agent: BaseAgent, ctx: InvocationContext, text: str, *, partial: bool = False, **fields: Any
) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return event_of(agent, ctx, content=content, partial=partial, **fields)


def wrote(agent: BaseAgent, ctx: InvocationContext, outbox: Any, **state: Any) -> Event:
    """An event that carries an outbox, and nothing to read."""
    actions = EventActions(state_delta={"a2a_outbox": outbox, **state})
    return event_of(agent, ctx, actions=actions)


def event_of(agent: BaseAgent, ctx: InvocationContext, **fields: Any) -> Event:
    return Event(author=agent.name, invocation_id=ctx.invocation_id, branch=ctx.branch, **fields)
