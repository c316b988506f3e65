"""A2A events for tests of the encoders."""

from typing import Any

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from aion_adk.protocol import canonical
from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import to_struct

WORKING = TaskState.TASK_STATE_WORKING


def started(state: TaskState = WORKING) -> Task:
    user_message = Message(message_id="u1", role=Role.ROLE_USER, parts=[Part(text="hi")])
    return Task(id="t1", context_id="c1", status=TaskStatus(state=state), history=[user_message])


def message(*parts: Part, message_id: str = "m1", chunk: bool = False) -> Message:
    made = Message(message_id=message_id, role=Role.ROLE_AGENT, parts=parts)
    canonical.declare_canonical_type(made, chunk=chunk)
    return made


def status(
    state: TaskState = WORKING,
    *parts: Part,
    message_id: str = "m1",
    chunk: bool = False,
    usage: dict[str, int] | None = None,
    state_delta: dict[str, Any] | None = None,
) -> TaskStatusUpdateEvent:
    update = TaskStatusUpdateEvent(task_id="t1", context_id="c1", status=TaskStatus(state=state))
    if parts:
        update.status.message.CopyFrom(message(*parts, message_id=message_id, chunk=chunk))
    if state_delta:
        actions = to_struct({"adk_actions": {"stateDelta": state_delta}})
        update.status.message.metadata.MergeFrom(actions)
    if usage:
        update.metadata.CopyFrom(to_struct({"adk_usage_metadata": usage}))
    return update


def completed(*parts: Part, **fields: Any) -> TaskStatusUpdateEvent:
    return status(TaskState.TASK_STATE_COMPLETED, *parts, **fields)


def delta(value: str, *, lane: str = "aion:stream-delta") -> TaskArtifactUpdateEvent:
    part = Part(text=value)
    return artifact(part, artifact_id=lane, append=True)


def delta_end(*, lane: str = "aion:stream-delta") -> TaskArtifactUpdateEvent:
    update = artifact(artifact_id=lane, append=True)
    update.last_chunk = True
    return update


def artifact(
    *parts: Part, artifact_id: str = "report", name: str = "report", append: bool = False
) -> TaskArtifactUpdateEvent:
    made = Artifact(artifact_id=artifact_id, name=name, parts=parts)
    return TaskArtifactUpdateEvent(task_id="t1", context_id="c1", artifact=made, append=append)


def text(value: str) -> Part:
    return Part(text=value)


def thought(value: str, signature: str = "") -> Part:
    signed = {"adk_thought_signature": signature} if signature else {}
    return Part(text=value, metadata=to_struct({"adk_thought": True, **signed}))


def tool_call(call_id: str, name: str = "f", pending: bool = False, **args: Any) -> Part:
    waits = {"adk_is_long_running": True} if pending else {}
    data = {"id": call_id, "name": name, "args": args}
    return data_part(data, adk_type="function_call", **waits)


def call_arguments(call_id: str, arguments: str, name: str = "f") -> Part:
    call = {"call_id": call_id, "name": name, "arguments": arguments}
    return data_part({"tool_calls": [call]})


def tool_result(call_id: str, response: dict[str, Any], name: str = "f") -> Part:
    data = {"id": call_id, "name": name, "response": response}
    return data_part(data, adk_type="function_response")
