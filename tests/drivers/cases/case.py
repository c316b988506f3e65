"""The same four agents built with each driver, for the tests that every driver must pass."""

import asyncio
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, ClassVar

from aion_adk.drivers import Driver

SECRET = "do not tell"


class Probe:
    """What a test waits for inside a framework."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def hang(self) -> None:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Case(ABC):
    """Agents of one driver; a framework that needs a server or a file has it in `running`."""

    driver: ClassVar[str]
    streams: ClassVar[bool] = True

    def running(self) -> AbstractAsyncContextManager[Any]:
        return nullcontext()

    @abstractmethod
    def echo(self, name: str = "echo") -> Driver:
        """Answers with the text and "!", in two chunks."""

    @abstractmethod
    def failing(self) -> Driver:
        """Streams A, B and C in three chunks, then raises an error with the secret in it."""

    @abstractmethod
    def hanging(self, probe: Probe, *, timeout: float | None = None) -> Driver:
        """Never answers until it is cancelled."""

    @abstractmethod
    def counting(self) -> Driver:
        """Answers how many turns this conversation has had."""
