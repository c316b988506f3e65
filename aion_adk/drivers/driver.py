"""The base of every driver: a framework's agent as one ADK agent.

A driver implements `_answer`, which yields ADK events and, between them, functions to call in
that order. `_run_async_impl` runs it in a task of its own with one deadline.
"""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, ClassVar, TypedDict

from a2a.types import AgentProvider, AgentSkill
from google.adk.agents import BaseAgent
from google.adk.agents.base_agent import AfterAgentCallback, BeforeAgentCallback
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from pydantic import Field
from typing_extensions import override

from aion_adk.card import CardFields
from aion_adk.drivers.pump import pumped

DriverItem = Event | Callable[[], None]
"""An event, or a function to call when the events before it have been sent."""


class DriverOptions(TypedDict, total=False):
    """Keyword options that every driver takes."""

    description: str
    display_name: str
    version: str
    skills: Sequence[AgentSkill | dict[str, Any]]
    input_modes: Sequence[str]
    output_modes: Sequence[str]
    provider: AgentProvider | dict[str, Any]
    documentation_url: str
    icon_url: str
    timeout: float | None
    before_agent_callback: BeforeAgentCallback
    after_agent_callback: AfterAgentCallback


class Driver(BaseAgent, CardFields):
    """Another framework's agent; `timeout` is in seconds and for the whole answer."""

    references: ClassVar[frozenset[str]] = frozenset()
    """Fields that a configuration may give as "package.module:attribute"."""

    ahead: ClassVar[int] = 64
    """How many events the framework may be ahead of the caller."""

    timeout: float | None = Field(default=None, gt=0)

    # Each driver's own __init__ has the typed signature; pydantic validates the fields here.
    def __init__(self, *, name: str, **fields: Any) -> None:
        super().__init__(name=name, **fields)

    async def aclose(self) -> None:
        """Closes what the driver keeps open; the server calls it when it stops."""

    @abstractmethod
    def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        """Runs the framework for one turn."""

    @override
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        answer = pumped(self._answer(ctx), timeout=self.timeout, ahead=self.ahead)
        paused = False
        async with aclosing(answer):
            async for item in answer:
                if isinstance(item, Event):
                    paused = paused or bool(item.long_running_tool_ids)
                    yield item
                else:
                    item()
        if ctx.is_resumable and not paused:
            # An agent that does not mark its end is run again when another one's pause is answered.
            ctx.set_agent_state(self.name, end_of_agent=True)
            yield self._create_agent_state_event(ctx)
