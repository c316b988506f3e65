"""A task as its events change it."""

import copy

from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a.utils.errors import A2AError, InvalidAgentResponseError, UnsupportedOperationError

TERMINAL_STATES = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
PAUSED_STATES = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
SETTLED_STATES = TERMINAL_STATES | PAUSED_STATES
"""Those that answer callers who wait: nothing happens to the task until somebody writes again."""

RUNNING_STATES = frozenset({TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING})

TaskEvent = Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


def state_name(state: TaskState) -> str:
    """As A2A's specification writes it, such as INPUT_REQUIRED."""
    return TaskState.Name(state).removeprefix("TASK_STATE_")


def require_open(task: Task, *, otherwise: type[A2AError] = UnsupportedOperationError) -> None:
    """Refuses what cannot be done with a task that is over."""
    if task.status.state in TERMINAL_STATES:
        raise otherwise(f"Task {task.id} is over: {state_name(task.status.state)}.")


def task_id_of(event: TaskEvent | Message) -> str:
    return event.id if isinstance(event, Task) else event.task_id


def status_update_of(task: Task) -> TaskStatusUpdateEvent:
    """The status that the task has, as an event."""
    return TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=task.status)


def settled_state_of(event: TaskEvent) -> TaskState | None:
    """The state that answers the callers; None for everything that does not."""
    if isinstance(event, TaskArtifactUpdateEvent):
        return None
    return event.status.state if event.status.state in SETTLED_STATES else None


def updated(task: Task | None, event: TaskEvent) -> Task:
    """The task after `event`: changed in place, or new if the event is a whole one."""
    if isinstance(event, Task):
        return copy.deepcopy(event)
    if task is None:
        raise InvalidAgentResponseError("The first event of a run must be a Task or a Message.")
    if isinstance(event, TaskArtifactUpdateEvent):
        apply_artifact(task, event)
    else:
        apply_status(task, event)
    return task


def apply_status(task: Task, event: TaskStatusUpdateEvent) -> None:
    """Every message joins the history when it comes, the last one stays on the status too."""
    task.status.CopyFrom(event.status)
    if event.status.HasField("message"):
        add_to_history(task, event.status.message)
    if event.HasField("metadata"):
        task.metadata.MergeFrom(event.metadata)


def apply_artifact(task: Task, event: TaskArtifactUpdateEvent) -> None:
    for artifact in task.artifacts:
        if artifact.artifact_id != event.artifact.artifact_id:
            continue
        if event.append:
            artifact.parts.extend(event.artifact.parts)
            artifact.metadata.MergeFrom(event.artifact.metadata)
        else:
            artifact.CopyFrom(event.artifact)
        return
    if event.append:
        unknown = event.artifact.artifact_id
        raise InvalidAgentResponseError(f"append=True for artifact {unknown}, which is unknown.")
    task.artifacts.append(event.artifact)


def add_to_history(task: Task, message: Message) -> None:
    if all(known.message_id != message.message_id for known in task.history):
        task.history.append(message)
