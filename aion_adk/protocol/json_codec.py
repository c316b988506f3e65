"""A2A events as JSON, and JSON as server-sent events.

The chunks of streamed text are written without protobuf's conversion.
"""

import json
from collections.abc import Mapping
from json.encoder import encode_basestring as _quoted
from typing import Any

from a2a.server.events import Event
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from google.protobuf.json_format import MessageToDict

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(event: Event) -> str:
    """`event` as a `StreamResponse` or a `SendMessageResponse`: under the name of its kind."""
    match event:
        case TaskArtifactUpdateEvent():
            return f'{{"artifactUpdate":{_text_chunk(event) or _encode(MessageToDict(event))}}}'
        case TaskStatusUpdateEvent():
            return f'{{"statusUpdate":{_encode(MessageToDict(event))}}}'
        case Task():
            return f'{{"task":{_encode(MessageToDict(event))}}}'
        case Message():
            return f'{{"message":{_encode(MessageToDict(event))}}}'


def frame(data: str, *, event: str = "") -> str:
    """A server-sent event with the JSON `data`."""
    if not data.isascii():
        # Some clients split an event at Unicode's own line ends.
        for character in "\x85\u2028\u2029":
            data = data.replace(character, f"\\u{ord(character):04x}")
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {data}\n\n"


def json_frame(data: Mapping[str, Any], *, event: str = "") -> str:
    return frame(_encode(data), event=event)


def _text_chunk(update: TaskArtifactUpdateEvent) -> str | None:
    """The JSON of an update that appends one plain text part; None for any other update."""
    artifact = update.artifact
    # With the fields checked here, a count of 4, 3 and 1 means that no others are set.
    if (
        not (update.append and update.task_id and update.context_id)
        or not (artifact.artifact_id and artifact.name and len(artifact.parts) == 1)
        or not artifact.parts[0].HasField("text")
        or len(update.ListFields()) != 4
        or len(artifact.ListFields()) != 3
        or len(artifact.parts[0].ListFields()) != 1
    ):
        return None
    return (
        f'{{"taskId":{_quoted(update.task_id)},"contextId":{_quoted(update.context_id)},'
        f'"artifact":{{"artifactId":{_quoted(artifact.artifact_id)},'
        f'"name":{_quoted(artifact.name)},'
        f'"parts":[{{"text":{_quoted(artifact.parts[0].text)}}}]}},"append":true}}'
    )
