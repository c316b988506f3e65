"""Garbage collection for a server: what stays is not looked through again and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

_YOUNG_OBJECTS = 10_000

# One entry a server: whichever of them stops last finds what the first one found.
_thresholds: list[tuple[int, int, int]] = []


@contextmanager
def seldom_collected() -> Generator[None, None, None]:
    """Inside, collections are rarer than Python's own, and leave out what was there before.

    Their pauses are most of what makes the slowest requests slow, and they find nothing: runs
    leave no cycles behind. A process that set another pace, or none, keeps it.
    """
    young, *older = gc.get_threshold()
    _thresholds.append((young, older[0], older[1]))
    gc.freeze()
    if 0 < young < _YOUNG_OBJECTS:
        gc.set_threshold(_YOUNG_OBJECTS, *older)
    try:
        yield
    finally:
        gc.set_threshold(*_thresholds.pop())
        if not _thresholds:
            gc.unfreeze()
