"""Small agents for tests, and the events that they yield."""

# ADK deprecates its sequence, parallel and loop agents, but users' agents are built of them.
# pyright: reportDeprecated=false

from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.agents import BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types

Behaviour = Callable[[BaseAgent, InvocationContext], AsyncGenerator[Event, None]]


class Scripted(BaseAgent):
    """An agent that runs one async generator function."""

    behaviour: Behaviour

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async for event in self.behaviour(self, ctx):
            yield event


def agent_of(behaviour: Behaviour, *, name: str = "agent", **fields: Any) -> BaseAgent:
    return Scripted(name=name, behaviour=behaviour, **fields)


def in_sequence(*agents: BaseAgent) -> BaseAgent:
    return SequentialAgent(name="sequence", sub_agents=list(agents))


def in_parallel(*agents: BaseAgent) -> BaseAgent:
    return ParallelAgent(name="parallel", sub_agents=list(agents))


def in_loop(*agents: BaseAgent, times: int) -> BaseAgent:
    return LoopAgent(name="loop", sub_agents=list(agents), max_iterations=times)


def text_event(
    agent: BaseAgent, ctx: InvocationContext, text: str, *, partial: bool = False, **fields: Any
) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return event_of(agent, ctx, content=content, partial=partial, **fields)


def outbox_event(agent: BaseAgent, ctx: InvocationContext, outbox: Any, **state: Any) -> Event:
    """An event that carries an outbox, and nothing to read."""
    actions = EventActions(state_delta={"a2a_outbox": outbox, **state})
    return event_of(agent, ctx, actions=actions)


def event_of(agent: BaseAgent, ctx: InvocationContext, **fields: Any) -> Event:
    return Event(author=agent.name, invocation_id=ctx.invocation_id, branch=ctx.branch, **fields)


class Named(BaseAgent):
    closed: bool = False

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, f"I am {self.name}")

    async def aclose(self) -> None:
        self.closed = True
