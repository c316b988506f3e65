"""Keeps an agent that would end the process from ending more than its own run.

asyncio stops its loop, and with it the server, when a task raises SystemExit; ADK runs tools,
branches and nodes in tasks of its own.
"""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from aion_adk.errors import BridgeError

Coro = Coroutine[Any, Any, Any]

_contained_here: ContextVar[bool] = ContextVar("aion_adk_contained", default=False)


class AgentExit(BridgeError):
    """The agent ended its run in a way that would end the process: sys.exit() and the like."""


class _ContainingTaskFactory:
    """In a task that is made inside the guard, an exit becomes an `AgentExit`.

    The loop gets its own factory back when the last block and the last such task have ended.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # typeshed's protocol is generic in the result; a factory passes it through unseen.
        self._before = cast(Any, loop.get_task_factory())
        self._loop = loop
        self._users = 0
        loop.set_task_factory(cast(Any, self))

    def __call__(
        self, loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any
    ) -> "asyncio.Task[Any]":
        make = self._before or _plain_task
        if not _contained_here.get():
            return make(loop, coro, **options)
        task = make(loop, _contained(coro), **options)
        self.add_user()

        def on_done(_: object) -> None:
            # A task that is cancelled before it starts would be reported as never awaited.
            coro.close()
            self.remove_user()

        task.add_done_callback(on_done)
        return task

    def add_user(self) -> None:
        self._users += 1

    def remove_user(self) -> None:
        self._users -= 1
        if not self._users and cast(Any, self._loop.get_task_factory()) is self:
            self._loop.set_task_factory(self._before)


@contextmanager
def contained_exits() -> Generator[None, None, None]:
    """Tasks that are made inside the block, and by those tasks, cannot stop the running loop."""
    loop = asyncio.get_running_loop()
    factory: object = loop.get_task_factory()
    if not isinstance(factory, _ContainingTaskFactory):
        factory = _ContainingTaskFactory(loop)
    factory.add_user()
    token = _contained_here.set(True)
    try:
        yield
    finally:
        _contained_here.reset(token)
        factory.remove_user()


async def _contained(coro: Coro) -> Any:
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        raise AgentExit(f"the agent raised {type(error).__name__}") from error


def _plain_task(loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any) -> "asyncio.Task[Any]":
    return asyncio.Task(coro, loop=loop, **options)
