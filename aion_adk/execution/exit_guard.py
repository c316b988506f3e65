"""Keeps an agent that would end the process from ending more than its own run.

asyncio stops its loop, and with it the server, when a task raises SystemExit; ADK runs tools,
branches and nodes in tasks of its own.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, cast

from aion_adk.errors import BridgeError

Coro = Coroutine[Any, Any, Any]


class AgentExit(BridgeError):
    """The agent ended its run in a way that would end the process: sys.exit() and the like."""


class _ContainingTaskFactory:
    """In a task that it makes where `applies` is true, an exit becomes an `AgentExit`.

    It leaves the loop with the last block and the last of these tasks that keeps it there.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, applies: Callable[[], bool]) -> None:
        # typeshed's protocol is generic in the result; a factory passes it through unseen.
        self._before = cast(Any, loop.get_task_factory())
        self._loop = loop
        self._applies = applies
        self._users = 0
        loop.set_task_factory(cast(Any, self))

    def __call__(
        self, loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any
    ) -> "asyncio.Task[Any]":
        make = self._before or _plain_task
        if not self._applies():
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
def contained_exits(*, where: Callable[[], bool]) -> Generator[None, None, None]:
    """Tasks that the running loop makes where `where` is true cannot stop it.

    This holds inside the block, and for as long as such a task is running.
    """
    loop = asyncio.get_running_loop()
    factory: object = loop.get_task_factory()
    if not isinstance(factory, _ContainingTaskFactory):
        factory = _ContainingTaskFactory(loop, where)
    factory.add_user()
    try:
        yield
    finally:
        factory.remove_user()


async def _contained(coro: Coro) -> Any:
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        raise AgentExit(f"the agent raised {type(error).__name__}") from error


def _plain_task(loop: asyncio.AbstractEventLoop, coro: Coro, **options: Any) -> "asyncio.Task[Any]":
    return asyncio.Task(coro, loop=loop, **options)
