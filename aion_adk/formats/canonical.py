"""The AG-UI event type that each A2A message, task and update stands for."""

from enum import StrEnum

from a2a.types import (
    Message,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)

from aion_adk.parts import (
    STATE_DELTA,
    adk_type_of,
    has_tool_calls,
    has_tool_results,
    is_thought,
    is_transitory,
)

CANONICAL_TYPE = "canonical_type"


class CanonicalType(StrEnum):
    RUN_STARTED = "RunStartedEvent"
    RUN_FINISHED = "RunFinishedEvent"
    RUN_ERROR = "RunErrorEvent"
    STEP_STARTED = "StepStartedEvent"
    STEP_FINISHED = "StepFinishedEvent"
    TEXT_CONTENT = "TextMessageContentEvent"
    TEXT_CHUNK = "TextMessageChunkEvent"
    TEXT_END = "TextMessageEndEvent"
    TOOL_CALL_ARGS = "ToolCallArgsEvent"
    TOOL_CALL_START = "ToolCallStartEvent"
    TOOL_CALL_RESULT = "ToolCallResultEvent"
    REASONING = "ReasoningMessageContentEvent"
    ACTIVITY = "ActivitySnapshotEvent"
    STATE_DELTA = "StateDeltaEvent"


_OF_STATE = {
    TaskState.TASK_STATE_SUBMITTED: CanonicalType.RUN_STARTED,
    TaskState.TASK_STATE_WORKING: CanonicalType.STEP_STARTED,
    TaskState.TASK_STATE_INPUT_REQUIRED: CanonicalType.STEP_FINISHED,
    TaskState.TASK_STATE_AUTH_REQUIRED: CanonicalType.STEP_FINISHED,
    TaskState.TASK_STATE_COMPLETED: CanonicalType.RUN_FINISHED,
    TaskState.TASK_STATE_FAILED: CanonicalType.RUN_ERROR,
    TaskState.TASK_STATE_REJECTED: CanonicalType.RUN_ERROR,
    TaskState.TASK_STATE_CANCELED: CanonicalType.RUN_ERROR,
}

_CHUNK_OF = {
    CanonicalType.TEXT_END: CanonicalType.TEXT_CHUNK,
    CanonicalType.TOOL_CALL_START: CanonicalType.TOOL_CALL_ARGS,
}


def canonical_type_of(
    source: Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
) -> CanonicalType:
    """What `source` stands for: a message says whether it is a chunk, an update by its state."""
    match source:
        case Message():
            return _of_message(source)
        case Task():
            return CanonicalType.RUN_STARTED
        case TaskStatusUpdateEvent():
            return _OF_STATE.get(source.status.state, CanonicalType.STEP_STARTED)
        case TaskArtifactUpdateEvent():
            return _of_artifact(source)


def stamp(message: Message, *, chunk: bool = False) -> None:
    """Writes the canonical type of `message` into its metadata."""
    kind = _kind_of(message)
    if chunk or declared_type(message) == _CHUNK_OF.get(kind):
        kind = _CHUNK_OF.get(kind, kind)
    message.metadata.fields[CANONICAL_TYPE].string_value = kind


def declared_type(message: Message) -> str:
    """The type that the message's own metadata names; empty without one."""
    fields = message.metadata.fields
    return fields[CANONICAL_TYPE].string_value if CANONICAL_TYPE in fields else ""


def _of_message(message: Message) -> CanonicalType:
    declared = declared_type(message)
    try:
        return CanonicalType(declared)
    except ValueError:
        return _kind_of(message)


def _of_artifact(update: TaskArtifactUpdateEvent) -> CanonicalType:
    if not is_transitory(update.artifact.artifact_id):
        return CanonicalType.ACTIVITY
    return CanonicalType.TEXT_END if update.last_chunk else CanonicalType.TEXT_CHUNK


def _kind_of(message: Message) -> CanonicalType:
    """What the parts and the role say; whether it is a chunk cannot be seen from them."""
    if has_tool_results(message):
        return CanonicalType.TOOL_CALL_RESULT
    if has_tool_calls(message):
        return CanonicalType.TOOL_CALL_START
    if message.role == Role.ROLE_USER:
        return CanonicalType.TEXT_CONTENT
    texts = [part for part in message.parts if part.text]
    if texts and all(is_thought(part) for part in texts):
        return CanonicalType.REASONING
    if texts or not message.parts:
        return CanonicalType.TEXT_END
    if all(adk_type_of(part) == STATE_DELTA for part in message.parts):
        return CanonicalType.STATE_DELTA
    return CanonicalType.ACTIVITY
