"""Keeps an agent that would end the process from ending more than its own run.

asyncio stops its loop, and with it the server, when a task raises SystemExit; ADK runs tools,
branches and nodes in tasks of its own.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, cast

from aion_adk.errors import BridgeError

Coro = Coroutine[Any, Any, Any]


class AgentExit(BridgeError):
    """The agent ended its run in a way that would end the process: sys.exit() and the like."""


class _TaskFactory(Protocol):
    def __call__(
        self, loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any
    ) -> "asyncio.Task[Any]": ...


class ContainedTasks:
    """A task factory: in a task that `applies` is true for, an exit becomes an `AgentExit`."""

    def __init__(self, make: _TaskFactory | None, applies: Callable[[], bool]) -> None:
        self._make = make or _plain_task
        self._applies = applies

    def __call__(
        self, loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any
    ) -> "asyncio.Task[Any]":
        if not self._applies():
            return self._make(loop, coro, **options)
        task = self._make(loop, _contained(coro), **options)
        # One that is cancelled before it starts would be reported as never awaited.
        task.add_done_callback(lambda _: coro.close())
        return task


def contain_exits(*, where: Callable[[], bool]) -> None:
    """From here on, tasks that the running loop makes where `where` is true cannot stop it."""
    loop = asyncio.get_running_loop()
    make = cast(_TaskFactory | None, loop.get_task_factory())
    if not isinstance(make, ContainedTasks):
        # typeshed's protocol is generic in the result; a factory passes it through unseen.
        loop.set_task_factory(cast(Any, ContainedTasks(make, where)))


async def _contained(coro: Coro) -> Any:
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        raise AgentExit(f"the agent raised {type(error).__name__}") from error


def _plain_task(loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any) -> "asyncio.Task[Any]":
    return asyncio.Task(coro, loop=loop, **options)
