"""JSON values: protobuf's and Python's, written as text, and the keys only a server may set."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from google.protobuf import struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message as Proto
from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python

PROTECTED_PREFIXES = ("aion:", "https://docs.aion.to/")

# From here on JSON writers use an exponent, and the number stays a float.
_LONGEST_INTEGER = 1e21

MAX_LEVELS = 30
"""An object in an object is three messages deep, and protobuf reads no more than 100 back."""


def to_plain(value: struct_pb2.Value) -> Any:
    """Plain Python for a protobuf value: whole numbers are ints, keys sorted at every depth."""
    match value.WhichOneof("kind"):
        case "struct_value":
            return to_dict(value.struct_value)
        case "list_value":
            return [to_plain(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            whole = number.is_integer() and abs(number) < _LONGEST_INTEGER
            return int(number) if whole else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case _:
            return None


def to_dict(struct: struct_pb2.Struct) -> dict[str, Any]:
    return {key: to_plain(struct.fields[key]) for key in sorted(struct.fields)}


def object_of(plain: Any, key: str = "") -> dict[str, Any]:
    """`plain`, or what it has under `key`, if that is a JSON object; else an empty one."""
    if key:
        plain = object_of(plain).get(key)
    return cast(dict[str, Any], plain) if isinstance(plain, dict) else {}


def list_of(plain: Any, key: str = "") -> list[Any]:
    """`plain`, or what it has under `key`, if that is a JSON array; else an empty one."""
    if key:
        plain = object_of(plain).get(key)
    return cast(list[Any], plain) if isinstance(plain, list) else []


def decoded_json(value: Any) -> Any:
    """A JSON object or array written as text, decoded; anything else unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object written in `text`; None for any other text."""
    value = decoded_json(text)
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def unwrapped(value: Any) -> Any:
    """The value inside `{"result": value}`, ADK's wrapper for whatever is not an object."""
    wrapper = object_of(value)
    return wrapper["result"] if wrapper.keys() == {"result"} else value


def to_value(plain: Any) -> struct_pb2.Value:
    """A protobuf value for anything that JSON can hold, else a TypeError that names the type."""
    return ParseDict(json.loads(json.dumps(plain, default=_jsonable)), struct_pb2.Value())


def to_struct(plain: Mapping[str, Any]) -> struct_pb2.Struct:
    return to_value(dict(plain)).struct_value


def _jsonable(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError:
        kind = type(value).__name__
        raise TypeError(f"expected JSON-serialisable data, got {kind}") from None


class ProtoJson:
    """Annotates a pydantic field of a protobuf type: its JSON is accepted, and dumped."""

    def __get_pydantic_core_schema__(
        self, source: type[Proto], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        def parsed(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            try:
                return ParseDict(cast(dict[str, Any], value), source())
            except ParseError as error:
                raise ValueError(str(error)) from error

        return core_schema.no_info_before_validator_function(
            parsed,
            core_schema.is_instance_schema(source),
            serialization=core_schema.plain_serializer_function_ser_schema(MessageToDict),
        )


def is_protected(key: str) -> bool:
    return key.startswith(PROTECTED_PREFIXES)


def drop_protected(struct: struct_pb2.Struct) -> list[str]:
    """Removes protected keys at every depth; returns what was removed."""
    dropped = [key for key in struct.fields if is_protected(key)]
    for key in dropped:
        del struct.fields[key]
    values = list(struct.fields.values())
    for value in values:
        match value.WhichOneof("kind"):
            case "struct_value":
                dropped += drop_protected(value.struct_value)
            case "list_value":
                values += value.list_value.values  # the loop goes on with these
            case _:
                pass
    return dropped


def unwritable_values(
    values: Iterable[struct_pb2.Value], *, depth: int = MAX_LEVELS
) -> Iterator[struct_pb2.Value]:
    """The values that JSON cannot hold, or that protobuf cannot read back: nested too deep."""
    for value in values:
        match value.WhichOneof("kind"):
            case "number_value" if not math.isfinite(value.number_value):
                yield value
            case "struct_value" | "list_value" if depth == 0:
                yield value
            case "struct_value":
                yield from unwritable_values(value.struct_value.fields.values(), depth=depth - 1)
            case "list_value":
                yield from unwritable_values(value.list_value.values, depth=depth - 1)
            case _:
                pass
