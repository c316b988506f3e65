"""How long each part gets to stop before the part around it goes on without it.

What is outside waits longer than what is inside. Otherwise it would give up on a part that is
still cleaning up, and what that part has left to say would be lost.
"""

import asyncio
import logging
from typing import Any

logger = logging.getLogger(__name__)

SECONDS_TO_END_PROCESS = 2.0
"""A process that a driver started gets from SIGTERM to SIGKILL."""

SECONDS_TO_END_FRAMEWORK = 4.0
"""A driver waits for the framework that it has cancelled, and for its process."""

SECONDS_TO_END_AGENT = 5.0
"""The executor waits for the agent that it has cancelled, and for its drivers."""

SECONDS_TO_END_RUN = 6.0
"""The server waits for the executor that it has cancelled, and for its agent."""

SECONDS_TO_END_STREAMS = 10.0
"""After the grace period, the web server waits for the runs to end and for their last events."""

SECONDS_TO_END_POSTS = 5.0
"""When all runs have ended, webhooks get the posts that wait for them."""

# asyncio keeps only weak references to tasks; one that ignores its cancellation stays here.
_stopping: set[asyncio.Task[Any]] = set()


async def cancel_and_wait(task: asyncio.Task[Any], *, within: float) -> bool:
    """Cancels `task` and waits for its end; False if it goes on and is left alone."""
    task.cancel()
    _stopping.add(task)
    task.add_done_callback(_on_end)
    await asyncio.wait({task}, timeout=within)
    return task.done()


def _on_end(task: asyncio.Task[Any]) -> None:
    _stopping.discard(task)
    # Nobody waits for it any more, and asyncio reports a failure that nobody has looked at.
    if not task.cancelled() and (error := task.exception()):
        logger.debug("a cancelled task failed", exc_info=error)
