"""A2A events to JSON and requests from it, without protobuf's own conversion where it is slow.

Whatever is rare (files, data, numbers in metadata, extensions) goes through protobuf; the
result is the same either way.
"""

import json
from json.encoder import encode_basestring as _text
from typing import Any, cast

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message as Proto
from google.protobuf.struct_pb2 import Struct

WireEvent = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent

_PLAIN_FIELDS = frozenset({"messageId", "contextId", "taskId", "role", "parts"})
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_LINE_ENDS = (("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
_STATES = {number: _text(name) for name, number in TaskState.items()}
_ROLES = {number: _text(name) for name, number in Role.items()}


def to_json(event: WireEvent) -> str:
    """`event` as a `StreamResponse` or a `SendMessageResponse`: under the name of its kind."""
    match event:
        case TaskArtifactUpdateEvent():
            return f'{{"artifactUpdate":{_artifact_update(event)}}}'
        case TaskStatusUpdateEvent():
            return f'{{"statusUpdate":{_status_update(event)}}}'
        case Task():
            return f'{{"task":{_task(event)}}}'
        case Message():
            return f'{{"message":{_message(event)}}}'


def on_one_line(text: str) -> str:
    """The same JSON without the line ends of Unicode, at which some readers of events split."""
    if text.isascii():
        return text
    for character, escape in _LINE_ENDS:
        text = text.replace(character, escape)
    return text


def plain_request(params: dict[str, Any]) -> SendMessageRequest | None:
    """The request of a message that is text and nothing else; None for any other."""
    message: Any = params.get("message")
    if len(params) != 1 or not isinstance(message, dict):
        return None
    fields = cast(dict[str, Any], message)
    parts: Any = fields.get("parts")
    if not fields.keys() <= _PLAIN_FIELDS or not isinstance(parts, list):
        return None
    try:
        return SendMessageRequest(
            message=Message(
                message_id=fields.get("messageId"),
                context_id=fields.get("contextId"),
                task_id=fields.get("taskId"),
                role=fields.get("role"),
                parts=[Part(text=_text_of(part)) for part in cast(list[Any], parts)],
            )
        )
    except (TypeError, ValueError):
        return None


def _text_of(part: Any) -> str:
    match part:
        case {"text": str(text)} if len(part) == 1:
            return text
        case _:
            raise TypeError


def _artifact_update(update: TaskArtifactUpdateEvent) -> str:
    fields = _ids(update)
    if update.HasField("artifact"):
        fields.append(f'"artifact":{_artifact(update.artifact)}')
    if update.append:
        fields.append('"append":true')
    if update.last_chunk:
        fields.append('"lastChunk":true')
    if update.HasField("metadata"):
        fields.append(f'"metadata":{_struct(update.metadata)}')
    return f"{{{','.join(fields)}}}"


def _status_update(update: TaskStatusUpdateEvent) -> str:
    fields = _ids(update)
    if update.HasField("status"):
        fields.append(f'"status":{_status(update.status)}')
    if update.HasField("metadata"):
        fields.append(f'"metadata":{_struct(update.metadata)}')
    return f"{{{','.join(fields)}}}"


def _task(task: Task) -> str:
    fields: list[str] = []
    if task.id:
        fields.append(f'"id":{_text(task.id)}')
    if task.context_id:
        fields.append(f'"contextId":{_text(task.context_id)}')
    if task.HasField("status"):
        fields.append(f'"status":{_status(task.status)}')
    if task.artifacts:
        fields.append(f'"artifacts":[{",".join(map(_artifact, task.artifacts))}]')
    if task.history:
        fields.append(f'"history":[{",".join(map(_message, task.history))}]')
    if task.HasField("metadata"):
        fields.append(f'"metadata":{_struct(task.metadata)}')
    return f"{{{','.join(fields)}}}"


def _status(status: TaskStatus) -> str:
    fields: list[str] = []
    if status.state:
        fields.append(f'"state":{_STATES.get(status.state, status.state)}')
    if status.HasField("message"):
        fields.append(f'"message":{_message(status.message)}')
    if status.HasField("timestamp"):
        fields.append(f'"timestamp":"{status.timestamp.ToJsonString()}"')
    return f"{{{','.join(fields)}}}"


def _message(message: Message) -> str:
    if message.extensions or message.reference_task_ids:
        return _rare(message)
    fields: list[str] = []
    if message.message_id:
        fields.append(f'"messageId":{_text(message.message_id)}')
    if message.context_id:
        fields.append(f'"contextId":{_text(message.context_id)}')
    if message.task_id:
        fields.append(f'"taskId":{_text(message.task_id)}')
    if message.role:
        fields.append(f'"role":{_ROLES.get(message.role, message.role)}')
    if message.parts:
        fields.append(f'"parts":[{",".join(map(_part, message.parts))}]')
    if message.HasField("metadata"):
        fields.append(f'"metadata":{_struct(message.metadata)}')
    return f"{{{','.join(fields)}}}"


def _artifact(artifact: Artifact) -> str:
    if artifact.extensions or artifact.description or artifact.HasField("metadata"):
        return _rare(artifact)
    fields: list[str] = []
    if artifact.artifact_id:
        fields.append(f'"artifactId":{_text(artifact.artifact_id)}')
    if artifact.name:
        fields.append(f'"name":{_text(artifact.name)}')
    if artifact.parts:
        fields.append(f'"parts":[{",".join(map(_part, artifact.parts))}]')
    return f"{{{','.join(fields)}}}"


def _part(part: Part) -> str:
    plain = part.HasField("text") and not part.filename and not part.media_type
    if plain and not part.HasField("metadata"):
        return f'{{"text":{_text(part.text)}}}'
    return _rare(part)


def _struct(struct: Struct) -> str:
    fields: list[str] = []
    for key, value in struct.fields.items():
        if not value.HasField("string_value"):
            return _rare(struct)
        fields.append(f"{_text(key)}:{_text(value.string_value)}")
    return f"{{{','.join(fields)}}}"


def _ids(update: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> list[str]:
    fields: list[str] = []
    if update.task_id:
        fields.append(f'"taskId":{_text(update.task_id)}')
    if update.context_id:
        fields.append(f'"contextId":{_text(update.context_id)}')
    return fields


def _rare(proto: Proto) -> str:
    return _encode(MessageToDict(proto))
