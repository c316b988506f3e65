"""genai content to A2A parts."""

import base64
from collections.abc import Iterable
from typing import Any

from a2a.types import Message, Part, Role, TaskState, TaskStatus, TaskStatusUpdateEvent
from google.genai import types
from google.protobuf.struct_pb2 import Struct
from pydantic import BaseModel

from aion_adk.protocol.parts import (
    ADK_LONG_RUNNING,
    ADK_THOUGHT,
    ADK_THOUGHT_SIGNATURE,
    ADK_TYPE,
    FUNCTION_CALL,
    FUNCTION_RESPONSE,
)
from aion_adk.protocol.stamp import new_id
from aion_adk.protocol.structs import to_struct, to_value

MESSAGE_ID = "a2a_message_id"
"""Key in an event's custom metadata: the id that the event has as an A2A message."""


def genai_parts(content: types.Content | None) -> list[types.Part]:
    return (content.parts or []) if content else []


def texts_in(parts: Iterable[types.Part]) -> list[str]:
    """The text a caller may read: no thoughts."""
    return [part.text for part in parts if part.text and not part.thought]


def reply_parts(content: types.Content | None) -> list[Part]:
    """What a caller may read of `content`: no thoughts, no function calls or responses."""
    return [part for item in genai_parts(content) if (part := to_a2a_part(item))]


def to_a2a_part(part: types.Part) -> Part | None:
    """The part as a caller may read it; None for thoughts and function calls and responses."""
    if part.thought:
        return None
    if part.text:
        return Part(text=part.text)
    if (blob := part.inline_data) and blob.data is not None:
        name = blob.display_name or ""
        return Part(raw=blob.data, media_type=blob.mime_type or "", filename=name)
    if (file := part.file_data) and file.file_uri:
        name = file.display_name or ""
        return Part(url=file.file_uri, media_type=file.mime_type or "", filename=name)
    if part.executable_code:
        return data_part(_dump(part.executable_code), adk_type="executable_code")
    if part.code_execution_result:
        return data_part(_dump(part.code_execution_result), adk_type="code_execution_result")
    return None


def data_part(data: Any, **metadata: Any) -> Part:
    return Part(data=to_value(data), metadata=to_struct(metadata) if metadata else None)


def function_call_part(call: types.FunctionCall, *, long_running: bool) -> Part:
    metadata: dict[str, Any] = {ADK_TYPE: FUNCTION_CALL}
    if long_running:
        metadata[ADK_LONG_RUNNING] = True
    return data_part(_dump(call), **metadata)


def function_response_part(response: types.FunctionResponse) -> Part:
    return data_part(_dump(response), adk_type=FUNCTION_RESPONSE)


def thought_part(part: types.Part) -> Part:
    metadata: dict[str, Any] = {ADK_THOUGHT: True}
    if part.thought_signature:
        metadata[ADK_THOUGHT_SIGNATURE] = base64.b64encode(part.thought_signature).decode()
    return Part(text=part.text or "", metadata=to_struct(metadata))


def agent_message(parts: list[Part], *, message_id: str = "") -> Message:
    """A message of the agent, with a new id if none is given."""
    return Message(message_id=message_id or new_id(), role=Role.ROLE_AGENT, parts=parts)


def text_message(text: str) -> Message:
    return agent_message([Part(text=text)])


def working_update(
    *, message: Message | None = None, metadata: Struct | None = None
) -> TaskStatusUpdateEvent:
    status = TaskStatus(state=TaskState.TASK_STATE_WORKING, message=message)
    return TaskStatusUpdateEvent(status=status, metadata=metadata)


def _dump(model: BaseModel) -> Any:
    return model.model_dump(mode="json", exclude_none=True)
