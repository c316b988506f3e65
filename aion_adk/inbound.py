"""A2A message to genai content."""

import json
import mimetypes
from urllib.parse import unquote, urlsplit

from a2a.types import Message, Part
from a2a.utils.errors import InvalidParamsError
from google.genai import types
from pydantic import ValidationError

from aion_adk.parts import FUNCTION_RESPONSE, adk_type_of
from aion_adk.values import to_dict, to_plain

DEFAULT_MIME_TYPE = "application/octet-stream"


def to_content(message: Message, *, plain_text: str = "") -> types.Content:
    """The message as user content; `plain_text` stands in when no part is usable."""
    parts = [converted for part in message.parts if (converted := to_genai_part(part))]
    if not parts and plain_text.strip():
        parts = [types.Part(text=plain_text)]
    if not parts:
        raise InvalidParamsError(
            "The message has no usable part: expected text, raw, url or data with content."
        )
    return types.Content(role="user", parts=parts)


def to_genai_part(part: Part) -> types.Part | None:
    match part.WhichOneof("content"):
        case "text":
            return types.Part(text=part.text) if part.text else None
        case "raw":
            return _inline_data(part) if part.raw else None
        case "url":
            return _file_data(part) if part.url else None
        case "data":
            if is_function_response(part):
                return types.Part(function_response=to_function_response(part))
            return _data_as_text(part)
        case _:
            return None


def mime_type_of(part: Part) -> str:
    """The declared type, else a guess by filename, else by the URL's path."""
    if part.media_type:
        return part.media_type
    guesses = (mimetypes.guess_type(name)[0] for name in (part.filename, _path_of(part.url)))
    return next(filter(None, guesses), DEFAULT_MIME_TYPE)


def is_function_response(part: Part) -> bool:
    return adk_type_of(part) == FUNCTION_RESPONSE


def _path_of(url: str) -> str:
    try:
        return unquote(urlsplit(url).path)
    except ValueError:  # not a URL; whether it can be fetched is the agent's business
        return ""


def _data_as_text(part: Part) -> types.Part | None:
    if part.data.WhichOneof("kind") is None:
        return None
    return types.Part(text=json.dumps(to_plain(part.data), ensure_ascii=False))


def _inline_data(part: Part) -> types.Part:
    blob = types.Blob(
        data=part.raw, mime_type=mime_type_of(part), display_name=part.filename or None
    )
    return types.Part(inline_data=blob)


def _file_data(part: Part) -> types.Part:
    file_data = types.FileData(
        file_uri=part.url, mime_type=mime_type_of(part), display_name=part.filename or None
    )
    return types.Part(file_data=file_data)


def to_function_response(part: Part) -> types.FunctionResponse:
    if not part.data.HasField("struct_value"):
        raise InvalidParamsError("A function_response part must hold an object.")
    try:
        return types.FunctionResponse.model_validate(to_dict(part.data.struct_value))
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, item["loc"])) for item in error.errors())
        raise InvalidParamsError(f"A function_response part has wrong fields: {fields}.") from error
