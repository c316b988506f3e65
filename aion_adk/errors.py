"""Exceptions of the bridge.

    BridgeError
    ├── TaskFailed      raised by an agent: the task ends FAILED with this text
    ├── TaskRejected    raised by an agent: the task ends REJECTED with this text
    ├── OutboxError     `a2a_outbox` is not a Message, a Task or an A2AOutbox
    ├── LoadError       an agent, a driver or a configuration cannot be loaded
    ├── RequestError    the request of an AG-UI or OpenAI client is not valid
    ├── ContentError    what such a request holds cannot be a part of a message
    └── AgentExit, AgentErrorEvent, RunTimeout    how a run broke

The texts of `TaskFailed`, `TaskRejected`, `RequestError` and `ContentError` are written for the
caller and are sent to it, that of `LoadError` for whoever starts the program. The text of every
other exception stays in the log.
"""

import logging
import uuid
from typing import TypeVar

E = TypeVar("E", bound=BaseException)


class BridgeError(Exception):
    """Base of every exception that this package raises itself."""


class TaskFailed(BridgeError):
    """Ends the task FAILED; the text is sent to the caller."""


class TaskRejected(BridgeError):
    """Ends the task REJECTED; the text is sent to the caller."""


class OutboxError(BridgeError):
    """An agent wrote something to `a2a_outbox` that is no A2A reply."""


class LoadError(BridgeError):
    """An agent, a driver or a configuration could not be loaded."""


def find_cause(error: BaseException, kind: type[E]) -> E | None:
    """The first exception of `kind` in `error`, its causes and its groups.

    ADK wraps what a plugin raises, and task groups wrap what a branch raises. What was being
    handled when `error` came up (`__context__`) is another matter and not looked at.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        if isinstance(current, kind):
            return current
        seen.add(id(current))
        waiting.append(current.__cause__)
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions  # pyright: ignore[reportUnknownMemberType]  # generic group
    return None


def log_failure(logger: logging.Logger, what: str, error: BaseException) -> str:
    """Logs `what` went wrong and its traceback; returns its new id, all that a caller may learn."""
    error_id = str(uuid.uuid4())
    logger.error("%s, error id %s: %s", what, error_id, error, exc_info=error)
    return error_id


def internal_error_text(logger: logging.Logger, what: str, error: BaseException) -> str:
    """Logs the failure and returns what a caller is told of it."""
    return f"Internal error. Error id: {log_failure(logger, what, error)}"
