"""Who hears of a run: callers that wait for one answer, and readers of its stream."""

import asyncio
import time

from a2a.server.events import Event
from a2a.types import Message, Task

from aion_adk.subscription import Subscription

_TURNS_FOR_READERS = 3

_CHUNKS_SINGLY = 32
_SECONDS_A_WRITE = 0.001

Answer = Task | Message


class Audience:
    """`first` is the answer for callers that do not wait for the end, `settled` for all others."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.first: asyncio.Future[Answer] = loop.create_future()
        self.settled: asyncio.Future[Answer] = loop.create_future()
        self._readers: list[Subscription] = []
        self._chunks = 0
        self._last_turn = 0.0

    @property
    def reads(self) -> bool:
        return bool(self._readers)

    def add(self, reader: Subscription) -> None:
        """Takes a reader; what was said to all has been said to it when it is too late."""
        if self.settled.done() and (error := self.settled.exception()):
            reader.close(error if isinstance(error, Exception) else None)
        self._readers.append(reader)

    def remove(self, reader: Subscription) -> None:
        self._readers.remove(reader)

    def show(self, event: Event) -> None:
        for reader in self._readers:
            reader.push(event)

    def settle(self, result: Answer | Exception) -> None:
        """Answers every caller so far; the readers have seen their last event."""
        for future in (self.first, self.settled):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
                future.exception()  # a caller may be gone; its exception is not unhandled then
            else:
                future.set_result(result)
        self.dismiss(result if isinstance(result, Exception) else None)

    def dismiss(self, error: Exception | None = None) -> None:
        """Ends the streams of the readers after what they have not taken."""
        for reader in self._readers:
            reader.close(error)

    async def take_it(self) -> None:
        """Lets the readers write a chunk before the next one is made.

        In a long answer those that are made within the time of one write leave together: most of
        what a chunk costs is waking its reader. An agent that waits for anything between two
        chunks lets the first one go by that.
        """
        self._chunks += 1
        if self._chunks > _CHUNKS_SINGLY and time.monotonic() - self._last_turn < _SECONDS_A_WRITE:
            return
        for _ in range(_TURNS_FOR_READERS):
            if not any(reader.behind for reader in self._readers):
                break
            await asyncio.sleep(0)
        self._last_turn = time.monotonic()
