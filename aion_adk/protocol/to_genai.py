"""A2A message to genai content."""

import json
import mimetypes
from urllib.parse import unquote, urlsplit

from a2a.types import Message, Part
from a2a.utils.errors import InvalidParamsError
from google.genai import types
from pydantic import ValidationError

from aion_adk.protocol.parts import FUNCTION_RESPONSE, adk_type_of
from aion_adk.protocol.structs import to_dict, to_plain

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
    """The part as ADK takes it; None for one without content."""
    match part.WhichOneof("content"):
        case "text" if part.text:
            return types.Part(text=part.text)
        case "raw" if part.raw:
            name = part.filename or None
            blob = types.Blob(data=part.raw, mime_type=mime_type_of(part), display_name=name)
            return types.Part(inline_data=blob)
        case "url" if part.url:
            name = part.filename or None
            file = types.FileData(
                file_uri=part.url, mime_type=mime_type_of(part), display_name=name
            )
            return types.Part(file_data=file)
        case "data" if is_function_response(part):
            return types.Part(function_response=to_function_response(part))
        case "data" if part.data.WhichOneof("kind"):
            return types.Part(text=json.dumps(to_plain(part.data), ensure_ascii=False))
        case _:
            return None


def mime_type_of(part: Part) -> str:
    """The declared type, else a guess by filename, else by the URL's path."""
    if part.media_type:
        return part.media_type
    try:
        path = unquote(urlsplit(part.url).path)
    except ValueError:  # not a URL; the agent will find out when it fetches it
        path = ""
    guesses = (mimetypes.guess_type(name)[0] for name in (part.filename, path))
    return next(filter(None, guesses), DEFAULT_MIME_TYPE)


def is_function_response(part: Part) -> bool:
    return adk_type_of(part) == FUNCTION_RESPONSE


def to_function_response(part: Part) -> types.FunctionResponse:
    if not part.data.HasField("struct_value"):
        raise InvalidParamsError("A function_response part must hold an object.")
    try:
        return types.FunctionResponse.model_validate(to_dict(part.data.struct_value))
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, item["loc"])) for item in error.errors())
        raise InvalidParamsError(f"A function_response part has wrong fields: {fields}.") from error
