"""The AG-UI event type that each A2A message, task and update stands for."""

from contextlib import suppress
from enum import StrEnum

from a2a.server.events import Event
from a2a.types import Message, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent

from aion_adk.protocol.parts import (
    FUNCTION_CALL,
    FUNCTION_RESPONSE,
    STATE_DELTA,
    TOOL_CALLS,
    TOOL_RESULTS,
    adk_type_of,
    has_data,
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


def canonical_type_of(source: Event) -> CanonicalType:
    """The type of an update by its state, of a message by its metadata or else by its parts."""
    match source:
        case Message():
            with suppress(ValueError):
                return CanonicalType(_declared_type(source))
            return _type_of_parts(source)
        case Task():
            return CanonicalType.RUN_STARTED
        case TaskStatusUpdateEvent():
            return _OF_STATE.get(source.status.state, CanonicalType.STEP_STARTED)
        case TaskArtifactUpdateEvent() if is_transitory(source.artifact.artifact_id):
            return CanonicalType.TEXT_END if source.last_chunk else CanonicalType.TEXT_CHUNK
        case TaskArtifactUpdateEvent():
            return CanonicalType.ACTIVITY


def declare_canonical_type(message: Message, *, chunk: bool = False) -> None:
    """Writes the type into the message's metadata; what is declared a chunk stays one."""
    kind = _type_of_parts(message)
    if chunk or _declared_type(message) == _CHUNK_OF.get(kind):
        kind = _CHUNK_OF.get(kind, kind)
    message.metadata.fields[CANONICAL_TYPE].string_value = kind


def _declared_type(message: Message) -> str:
    fields = message.metadata.fields
    return fields[CANONICAL_TYPE].string_value if CANONICAL_TYPE in fields else ""


def _type_of_parts(message: Message) -> CanonicalType:
    """The type by parts and role, which do not show whether the message is a chunk."""
    if message.parts and all(part.text and not part.HasField("metadata") for part in message.parts):
        user = message.role == Role.ROLE_USER
        return CanonicalType.TEXT_CONTENT if user else CanonicalType.TEXT_END
    if has_data(message, FUNCTION_RESPONSE, or_key=TOOL_RESULTS):
        return CanonicalType.TOOL_CALL_RESULT
    if has_data(message, FUNCTION_CALL, or_key=TOOL_CALLS):
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
