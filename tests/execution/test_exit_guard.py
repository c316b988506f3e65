import asyncio
import sys
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk.execution.exit_guard import AgentExit, contained_exits
from tests.agents import text_event
from tests.handling import ask, handler_of


async def leave(after: asyncio.Event) -> None:
    await after.wait()
    sys.exit()


async def test_the_task_factory_is_there_until_the_last_contained_task_has_ended() -> None:
    loop, go_on = asyncio.get_running_loop(), asyncio.Event()
    before = loop.get_task_factory()
    with contained_exits():
        first = asyncio.create_task(leave(go_on))
    factory = loop.get_task_factory()
    with contained_exits():
        second = asyncio.create_task(leave(go_on))
    assert factory is not before
    assert loop.get_task_factory() is factory
    go_on.set()
    ends = await asyncio.gather(first, second, return_exceptions=True)
    assert [type(end) for end in ends] == [AgentExit, AgentExit]
    assert loop.get_task_factory() is before


async def test_a_task_factory_of_somebody_else_is_used_and_comes_back() -> None:
    loop, made = asyncio.get_running_loop(), list[str]()

    def foreign(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        made.append(coro.__name__)
        return asyncio.Task(coro, loop=loop, **options)

    loop.set_task_factory(foreign)
    try:
        with contained_exits():
            await asyncio.create_task(asyncio.sleep(0))
        assert len(made) == 1
        assert loop.get_task_factory() is foreign
    finally:
        loop.set_task_factory(None)


async def test_a_task_factory_that_is_set_meanwhile_stays() -> None:
    loop = asyncio.get_running_loop()

    def later(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=loop, **options)

    try:
        with contained_exits():
            loop.set_task_factory(later)
        assert loop.get_task_factory() is later
    finally:
        loop.set_task_factory(None)


async def test_the_task_factory_is_restored_after_the_last_run_of_two_servers() -> None:
    loop = asyncio.get_running_loop()
    before, during = loop.get_task_factory(), list[object]()

    async def look(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        during.append(loop.get_task_factory())
        yield text_event(agent, ctx, "done")

    first, second = handler_of(look), handler_of(look)
    await asyncio.gather(ask(first, "hi"), ask(second, "hi"))
    assert before not in during
    assert loop.get_task_factory() is before
    await first.aclose()
    await ask(second, "hi")
    await second.aclose()
    assert loop.get_task_factory() is before
