"""What a served app changes in its process, from its start to its end."""

import asyncio
import contextlib
import gc
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType, MethodType
from typing import Any

_Handler = Callable[[int, FrameType | None], Any]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_YOUNG_OBJECTS = 10_000


class _Collector:
    """The garbage collector's settings belong to the process: the first app that starts changes
    them, the last one that stops restores them."""

    def __init__(self) -> None:
        self._apps = 0
        self._frozen_before = 0
        self._threshold_before = self._threshold = (0, 0, 0)

    @contextlib.contextmanager
    def fewer_collections(self) -> Generator[None, None, None]:
        """Inside, garbage is collected less often, and what was there before is left out.

        The pauses of the collector are most of what makes the slowest requests slow, and it finds
        nothing: runs leave no cycles behind.
        """
        if not self._apps:
            self._frozen_before = gc.get_freeze_count()
            self._threshold_before = gc.get_threshold()
            young, middle, old = self._threshold_before
            # A process that set another pace, or none, keeps it.
            if 0 < young < _YOUNG_OBJECTS:
                gc.set_threshold(_YOUNG_OBJECTS, middle, old)
            self._threshold = gc.get_threshold()
        self._apps += 1
        gc.freeze()
        try:
            yield
        finally:
            self._apps -= 1
            if not self._apps and gc.get_threshold() == self._threshold:
                gc.set_threshold(*self._threshold_before)
            if not self._apps and not self._frozen_before:
                gc.unfreeze()


fewer_collections = _Collector().fewer_collections


class _StopSignals:
    """Signal handlers belong to the process: one of ours serves all apps that are running."""

    def __init__(self) -> None:
        self._begins: list[Callable[[], object]] = []
        self._installed: dict[signal.Signals, tuple[_Handler, _Handler]] = {}

    def add(self, begin: Callable[[], object]) -> None:
        self._begins.append(begin)
        for number in _SIGNALS:
            before = signal.getsignal(number)
            ours, _ = self._installed.get(number, (None, None))
            if before != ours and callable(before) and before is not signal.default_int_handler:
                handler = self._wrap(before)
                self._installed[number] = handler, before
                signal.signal(number, handler)

    def remove(self, begin: Callable[[], object]) -> None:
        self._begins.remove(begin)
        if self._begins:
            return
        for number, (handler, before) in self._installed.items():
            if signal.getsignal(number) == handler:
                signal.signal(number, before)
        self._installed.clear()

    def _wrap(self, handler: _Handler) -> _Handler:
        """A handler that notifies the apps, then calls `handler`."""

        def stop(_: object, number: int, frame: FrameType | None) -> None:
            for begin in self._begins:
                begin()
            handler(number, frame)

        # sse-starlette finds uvicorn's server as the owner of the signal handler.
        return MethodType(stop, getattr(handler, "__self__", self))


_stop_signals = _StopSignals()


@contextlib.contextmanager
def on_stop_signal(begin: Callable[[], object]) -> Generator[None, None, None]:
    """Calls `begin` in the running loop on SIGTERM and SIGINT, then the server's own handler.

    A server ends its lifespan only after its last connection, and a stream stays open for as
    long as its run. Without a server that handles signals, none are handled here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def begin_in_loop() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(begin)

    _stop_signals.add(begin_in_loop)
    try:
        yield
    finally:
        _stop_signals.remove(begin_in_loop)
