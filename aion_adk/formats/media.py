"""Files in messages: as A2A parts, AG-UI content parts, and content parts of both OpenAI APIs."""

import base64
import mimetypes
from collections.abc import Mapping
from typing import Any

from a2a.types import Part

from aion_adk.errors import BridgeError
from aion_adk.protocol.structs import object_of
from aion_adk.protocol.to_genai import mime_type_of

ContentPart = dict[str, Any]

_KINDS = ("image", "audio", "video")
_AUDIO_TYPES = {"mp3": "audio/mpeg", "wav": "audio/wav"}


class ContentError(BridgeError):
    """A content part that is not valid; the text is meant for the caller."""


def to_agui_content(part: Part) -> ContentPart:
    """A raw or url part as AG-UI content, by its media type."""
    mime_type = mime_type_of(part)
    if part.HasField("url"):
        source = {"type": "url", "value": part.url, "mimeType": mime_type}
    else:
        source = {"type": "data", "value": _base64_of(part), "mimeType": mime_type}
    kind = mime_type.partition("/")[0]
    content: ContentPart = {"type": kind if kind in _KINDS else "document", "source": source}
    return {**content, "metadata": {"filename": part.filename}} if part.filename else content


def from_agui_content(content: Mapping[str, Any]) -> Part:
    match content.get("type"):
        case "text":
            return Part(text=str(content.get("text") or ""))
        case "image" | "audio" | "video" | "document":
            filename = str(object_of(content.get("metadata")).get("filename") or "")
            return _from_source(object_of(content.get("source")), filename)
        case "binary":
            # The one file part of AG-UI before 1.0.
            kind = "data" if content.get("data") else "url"
            mime_type = content.get("mimeType") or content.get("mime_type")
            source = {"type": kind, "value": content.get(kind), "mimeType": mime_type}
            return _from_source(source, str(content.get("filename") or ""))
        case other:
            raise ContentError(f"Unknown content part type: {other}.")


def content_to_chat(content: str | list[ContentPart]) -> str | list[ContentPart]:
    """AG-UI content as the content of a chat message."""
    return content if isinstance(content, str) else [_to_chat_content(item) for item in content]


def _to_chat_content(content: ContentPart) -> ContentPart:
    if content["type"] == "text":
        return {"type": "text", "text": content["text"]}
    part = from_agui_content(content)
    if content["type"] == "audio" and part.HasField("raw"):
        extension = mimetypes.guess_extension(part.media_type) or ".wav"
        kind = "mp3" if part.media_type == "audio/mpeg" else extension.removeprefix(".")
        return {"type": "input_audio", "input_audio": {"data": _base64_of(part), "format": kind}}
    url = part.url or f"data:{mime_type_of(part)};base64,{_base64_of(part)}"
    if content["type"] == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": part.filename, "file_data": url}}


def from_chat_content(content: Mapping[str, Any]) -> Part:
    match content.get("type"):
        case "text" | "input_text" | "output_text":
            return Part(text=str(content.get("text") or ""))
        case "image_url" | "input_image":
            image = content.get("image_url")
            url = image if isinstance(image, str) else object_of(image).get("url")
            return _from_url(str(url or ""))
        case "input_audio":
            audio = object_of(content.get("input_audio"))
            kind = str(audio.get("format"))
            mime_type = _AUDIO_TYPES.get(kind, f"audio/{kind}")
            return Part(raw=_decoded(audio.get("data")), media_type=mime_type)
        case "file":
            return _from_file(object_of(content.get("file")))
        case "input_file":
            return _from_file(content)
        case "refusal":
            return Part(text=str(content.get("refusal") or ""))
        case other:
            raise ContentError(f"Unknown content part type: {other}.")


def _from_url(url: str, *, filename: str = "", mime_type: str = "") -> Part:
    """A part for a URL; a `data:` URL becomes the bytes in it."""
    if not url.startswith("data:"):
        if not url:
            raise ContentError("A file needs a URL or data.")
        return Part(url=url, media_type=mime_type, filename=filename)
    head, comma, payload = url.removeprefix("data:").partition(",")
    if not comma or not head.endswith(";base64"):
        raise ContentError("A data URL must be base64-encoded.")
    declared = head.removesuffix(";base64").partition(";")[0]
    return Part(raw=_decoded(payload), media_type=declared or mime_type, filename=filename)


def _base64_of(part: Part) -> str:
    return base64.b64encode(part.raw).decode()


def _decoded(value: Any) -> bytes:
    try:
        return base64.b64decode(str(value or ""), validate=True)
    except ValueError as error:
        raise ContentError("A file's data is not valid base64.") from error


def _from_source(source: Mapping[str, Any], filename: str) -> Part:
    mime_type = str(source.get("mimeType") or source.get("mime_type") or "")
    if source.get("type") == "data":
        return Part(raw=_decoded(source.get("value")), media_type=mime_type, filename=filename)
    if source.get("type") != "url":
        raise ContentError("The source of a file must have the type data or url.")
    return _from_url(str(source.get("value") or ""), filename=filename, mime_type=mime_type)


def _from_file(file: Mapping[str, Any]) -> Part:
    filename = str(file.get("filename") or "")
    if url := file.get("file_url"):
        return _from_url(str(url), filename=filename)
    data = str(file.get("file_data") or "")
    if not data:
        raise ContentError("A file needs file_data or file_url; file_id is not supported.")
    if data.startswith("data:"):
        return _from_url(data, filename=filename)
    return Part(raw=_decoded(data), filename=filename)
