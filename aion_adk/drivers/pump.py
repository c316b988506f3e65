"""Runs a framework in a task of its own, with one deadline for the whole answer."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TypeVar

from aion_adk.errors import TaskFailed
from aion_adk.timeouts import SECONDS_TO_END_FRAMEWORK

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


async def pumped(
    items: AsyncGenerator[T, None], *, timeout: float | None, ahead: int = 64
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
            async with contextlib.aclosing(items):
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
        if task.cancel() and not (await asyncio.wait({task}, timeout=SECONDS_TO_END_FRAMEWORK))[0]:
            logger.warning("a framework does not stop when cancelled; it is left to itself")
