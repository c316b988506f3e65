"""Which turn of which task a response is: its id says so, and no other store is needed.

The first turn of a task has the id `resp_<task id>`, the second `resp_<task id>.2`.
"""

import re

from a2a.server.events import Event
from a2a.types import Message, Role, Task, TaskState

PREFIX = "resp_"

_TURN = re.compile(r"[1-9][0-9]{0,8}")


def response_id_of(answer: Event) -> str:
    """The id of the response that the latest turn of the task is."""
    if isinstance(answer, Message):
        return f"{PREFIX}{answer.message_id}"
    if not isinstance(answer, Task):
        return f"{PREFIX}{answer.task_id}"
    turns = sum(message.role == Role.ROLE_USER for message in answer.history)
    return f"{PREFIX}{answer.id}" if turns <= 1 else f"{PREFIX}{answer.id}.{turns}"


def task_id_of(response_id: str) -> str:
    return _parsed(response_id)[0]


def task_at(task: Task, response_id: str) -> Task | None:
    """The task as it was when the response's turn ended; None if it has no such turn."""
    _, wanted = _parsed(response_id)
    if not wanted:
        return None
    starts = [index for index, message in enumerate(task.history) if message.role == Role.ROLE_USER]
    if wanted > max(len(starts), 1):
        return None
    if wanted >= len(starts):
        return task
    earlier = Task()
    earlier.CopyFrom(task)
    del earlier.history[starts[wanted] :]
    # It went on after this turn, so this turn ended with a pause.
    earlier.status.state = TaskState.TASK_STATE_INPUT_REQUIRED
    earlier.status.message.CopyFrom(earlier.history[-1])
    return earlier


def _parsed(response_id: str) -> tuple[str, int]:
    task_id, _, turn = response_id.removeprefix(PREFIX).partition(".")
    return task_id, int(turn) if _TURN.fullmatch(turn) else int(not turn)
