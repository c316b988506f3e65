"""A2A events as JSON, and JSON as server-sent events."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from a2a.server.events import Event
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message as Proto

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(event: Event) -> str:
    """`event` as a `StreamResponse` or a `SendMessageResponse`: under the name of its kind."""
    return _encode(_json_of(to_stream_response(event)))


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


def _json_of(message: Proto) -> dict[str, Any]:
    """As `MessageToDict`, which finds out anew for every value how its field is written."""
    found: dict[str, Any] = {}
    for field, value in message.ListFields():
        name, convert = _json_field(field)
        found[name] = convert(value) if convert else value
    return found


@cache
def _json_field(field: FieldDescriptor) -> tuple[str, Callable[[Any], Any] | None]:
    """The field's name, and what makes its value JSON; None where it is JSON already."""
    if field.message_type:
        well_known = field.message_type.file.package == "google.protobuf"
        convert = MessageToDict if well_known else _json_of
        many = field.is_repeated
        return field.json_name, (lambda values: [*map(convert, values)]) if many else convert
    if field.enum_type:
        names = {value.number: value.name for value in field.enum_type.values}
        return field.json_name, lambda number: names.get(number, number)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return field.json_name, lambda raw: base64.b64encode(raw).decode()
    return field.json_name, list if field.is_repeated else None
