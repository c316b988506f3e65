"""Runs a framework in a task of its own, with one deadline for the whole answer."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

from aion_adk.errors import TaskFailed
from aion_adk.timeouts import SECONDS_TO_END_FRAMEWORK

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def pumped(
    items: AsyncGenerator[T, None], *, timeout: float | None, ahead: int = 64
) -> AsyncGenerator[T, None]:
    """What `items` yields, at most `ahead` of the reader; with 0 it waits for each to be taken.

    The framework runs in one task from beginning to end, whichever task reads. It is
    cancelled when the reader goes away and when `timeout` seconds have passed.
    """
    handover = _Handover[T](ahead)
    pump = asyncio.create_task(_pump(items, handover))
    timer = _deadline(handover, timeout) if timeout is not None else None
    try:
        while handover.waiting or not handover.closed:
            if handover.waiting:
                yield handover.take()
            else:
                await handover.filled()
        if handover.error:
            raise handover.error
    finally:
        if timer:
            timer.cancel()
        await _stop(pump)


def _deadline(handover: "_Handover[T]", timeout: float) -> asyncio.TimerHandle:
    expired = TaskFailed(f"The agent did not finish within {timeout:g} seconds.")
    return asyncio.get_running_loop().call_later(timeout, handover.close, expired)


async def _pump(items: AsyncGenerator[T, None], handover: "_Handover[T]") -> None:
    try:
        async with contextlib.aclosing(items):
            async for item in items:
                await handover.put(item)
    except Exception as error:
        handover.close(error)
    except asyncio.CancelledError:
        handover.close(RuntimeError("the framework cancelled its own run"))
        raise
    handover.close(None)


async def _stop(pump: asyncio.Task[None]) -> None:
    if pump.done():
        return
    pump.cancel()
    done, _ = await asyncio.wait({pump}, timeout=SECONDS_TO_END_FRAMEWORK)
    if not done:
        logger.warning("a framework does not stop when cancelled; it is left to itself")


class _Handover(Generic[T]):
    """A bounded buffer between one writer and one reader that ends once."""

    def __init__(self, ahead: int) -> None:
        self.waiting: deque[T] = deque()
        self.closed = False
        self.error: Exception | None = None
        self._ahead = ahead
        self._in_hand = 0
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    async def put(self, item: T) -> None:
        if self.closed:
            return
        self.waiting.append(item)
        _wake(self._reader)
        while len(self.waiting) + self._in_hand > self._ahead and not self.closed:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    def take(self) -> T:
        item = self.waiting.popleft()
        self._in_hand = 1
        if len(self.waiting) < self._ahead:
            _wake(self._writer)
        return item

    async def filled(self) -> None:
        """Waits until there is something to take or nothing more will come."""
        self._in_hand = 0
        _wake(self._writer)
        self._reader = asyncio.get_running_loop().create_future()
        await self._reader

    def close(self, error: Exception | None) -> None:
        if not self.closed:
            self.closed = True
            self.error = error
            _wake(self._reader)
            _wake(self._writer)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter and not waiter.done():
        waiter.set_result(None)
