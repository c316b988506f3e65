"""Files in messages: A2A parts, AG-UI content parts, and both OpenAI spellings of them."""

import base64
import mimetypes
from collections.abc import Mapping
from typing import Any

from a2a.types import Part

from aion_adk.errors import BridgeError
from aion_adk.protocol.structs import object_of
from aion_adk.protocol.to_genai import mime_type_of

Content = dict[str, Any]

_KINDS = ("image", "audio", "video")
_AUDIO_TYPES = {"mp3": "audio/mpeg", "wav": "audio/wav"}


class ContentError(BridgeError):
    """A content part of a request that cannot be read; the text is meant for the caller."""


def to_agui_content(part: Part) -> Content:
    """A raw or url part as AG-UI content, by its media type."""
    mime_type = mime_type_of(part)
    if part.HasField("url"):
        source = {"type": "url", "value": part.url, "mimeType": mime_type}
    else:
        value = base64.b64encode(part.raw).decode()
        source = {"type": "data", "value": value, "mimeType": mime_type}
    kind = mime_type.partition("/")[0]
    content: Content = {"type": kind if kind in _KINDS else "document", "source": source}
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


def content_to_chat(content: str | list[Content]) -> str | list[Content]:
    """AG-UI content as the content of a chat message."""
    if isinstance(content, str):
        return content
    chat: list[Content] = []
    for item in content:
        if item["type"] == "text":
            chat.append({"type": "text", "text": item["text"]})
            continue
        part = from_agui_content(item)
        if item["type"] == "image":
            chat.append({"type": "image_url", "image_url": {"url": _data_url(part)}})
        elif item["type"] == "audio" and part.HasField("raw"):
            extension = mimetypes.guess_extension(part.media_type) or ""
            kind = "mp3" if part.media_type == "audio/mpeg" else extension.removeprefix(".")
            audio = {"data": base64.b64encode(part.raw).decode(), "format": kind or "wav"}
            chat.append({"type": "input_audio", "input_audio": audio})
        else:
            file = {"filename": part.filename, "file_data": _data_url(part)}
            chat.append({"type": "file", "file": file})
    return chat


def from_chat_content(content: Mapping[str, Any]) -> Part:
    match content.get("type"):
        case "text" | "input_text" | "output_text":
            return Part(text=str(content.get("text") or ""))
        case "image_url":
            image = content.get("image_url")
            return _from_url(
                str(image if isinstance(image, str) else object_of(image).get("url") or "")
            )
        case "input_image":
            return _from_url(str(content.get("image_url") or ""))
        case "input_audio":
            audio = object_of(content.get("input_audio"))
            declared = str(audio.get("format"))
            mime_type = _AUDIO_TYPES.get(declared, f"audio/{declared}")
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
    """A part for a link; a `data:` URL is taken apart."""
    if not url.startswith("data:"):
        if not url:
            raise ContentError("A file needs a URL or data.")
        return Part(url=url, media_type=mime_type, filename=filename)
    head, comma, payload = url.removeprefix("data:").partition(",")
    if not comma or not head.endswith(";base64"):
        raise ContentError("A data URL must be base64-encoded.")
    declared = head.removesuffix(";base64").partition(";")[0]
    return Part(raw=_decoded(payload), media_type=declared or mime_type, filename=filename)


def _data_url(part: Part) -> str:
    if part.HasField("url"):
        return part.url
    return f"data:{mime_type_of(part)};base64,{base64.b64encode(part.raw).decode()}"


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
        raise ContentError("Expected a file by data or by URL.")
    return _from_url(str(source.get("value") or ""), filename=filename, mime_type=mime_type)


def _from_file(file: Mapping[str, Any]) -> Part:
    filename = str(file.get("filename") or "")
    if url := file.get("file_url"):
        return _from_url(str(url), filename=filename)
    data = str(file.get("file_data") or "")
    if not data:
        raise ContentError("A file needs file_data or file_url; there are no uploaded files here.")
    if data.startswith("data:"):
        return _from_url(data, filename=filename)
    return Part(raw=_decoded(data), filename=filename)
