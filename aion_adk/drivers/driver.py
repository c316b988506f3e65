"""The base of every driver: a framework's agent as one ADK agent.

A driver implements `_answer`, which yields ADK events and, between them, functions to call in
that order. `_run_async_impl` runs it in a task of its own with one deadline.
"""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict, TypeVar

from a2a.types import AgentProvider, AgentSkill
from google.adk.agents import BaseAgent
from google.adk.agents.base_agent import AfterAgentCallback, BeforeAgentCallback
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from pydantic import Field
from typing_extensions import override

from aion_adk import timeouts
from aion_adk.card import CardFields
from aion_adk.errors import TaskFailed

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


async def pumped(
    items: AsyncGenerator[T, None], *, timeout: float | None, ahead: int
) -> AsyncGenerator[T, None]:
    """What `items` yields, at most `ahead` of the reader; with 0 it waits for each to be taken.

    The framework runs in one task from beginning to end, whichever task reads. It is
    cancelled when the reader goes away and when `timeout` seconds have passed.
    """
    queue: asyncio.Queue[T | _End] = asyncio.Queue()
    slots = asyncio.Semaphore(ahead)
    is_read = True

    async def pump() -> None:
        try:
            async with aclosing(items):
                async for item in items:
                    if not is_read:  # a framework may go on after its cancellation
                        break
                    queue.put_nowait(item)
                    await slots.acquire()
        except asyncio.CancelledError:
            queue.put_nowait(_End(RuntimeError("the framework cancelled its own run")))
            raise
        except BaseException as error:  # SystemExit too: the reader must learn of every end
            queue.put_nowait(_End(error))
        else:
            queue.put_nowait(_End(None))

    task = asyncio.create_task(pump())
    timer = None
    if timeout is not None:
        expired = _End(TaskFailed(f"The agent did not finish within {timeout:g} seconds."))
        timer = asyncio.get_running_loop().call_later(timeout, queue.put_nowait, expired)
    try:
        while not isinstance(item := await queue.get(), _End):
            yield item
            slots.release()
        if item.error is not None:
            raise item.error
    finally:
        if timer:
            timer.cancel()
        is_read = False
        if not await timeouts.cancel_and_wait(task, within=timeouts.SECONDS_TO_END_FRAMEWORK):
            logger.warning("a framework does not stop when cancelled; it is left to itself")


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
            yield Event(
                author=self.name,
                invocation_id=ctx.invocation_id,
                branch=ctx.branch,
                actions=EventActions(end_of_agent=True),
            )
