"""Hears that the process is told to stop, before its server waits for open connections."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType, MethodType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def when_told_to_stop(begin: Callable[[], None]) -> Generator[None, None, None]:
    """Calls `begin` in the running loop on SIGTERM and SIGINT, then what the server installed.

    A server ends its lifespan only after its last connection, and a stream stays open for as
    long as its run. Where no server listens for signals, none is listened for here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    hooks = {number: hook for number in _SIGNALS if (hook := _hook(number, loop, begin))}
    before = {number: signal.signal(number, hook) for number, hook in hooks.items()}
    try:
        yield
    finally:
        for number, hook in hooks.items():
            if signal.getsignal(number) == hook:
                signal.signal(number, before[number])


def _hook(
    number: int, loop: asyncio.AbstractEventLoop, begin: Callable[[], None]
) -> Callable[[int, FrameType | None], Any] | None:
    installed = signal.getsignal(number)
    if not callable(installed) or installed is signal.default_int_handler:
        return None

    def stop(_: object, number: int, frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(begin)
        installed(number, frame)

    # sse-starlette finds uvicorn's server as the owner of the signal handler.
    return MethodType(stop, getattr(installed, "__self__", loop))
