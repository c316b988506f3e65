"""A Chat Completions request as a turn."""

from dataclasses import dataclass
from typing import Any

from a2a.types import Message, Part, Role

from aion_adk.formats import media
from aion_adk.formats.media import ContentError
from aion_adk.formats.request import Asked, ClientTool, RequestError, call_part, result_part
from aion_adk.values import list_of, object_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A completion that a client asks for, in the conversation `context_id` if it names one."""

    model: str
    stream: bool
    include_usage: bool
    include_reasoning: bool
    context_id: str
    asked: Asked


def read_request(body: object) -> ChatRequest:
    given = object_of(body)
    model = given.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError("you must provide a model parameter", param="model")
    messages = [object_of(item) for item in list_of(given, "messages")]
    if not messages:
        raise RequestError("messages must be a list of at least one message", param="messages")
    try:
        asked = _asked(given, messages)
    except ContentError as error:
        raise RequestError(str(error), param="messages") from error
    if asked.is_empty:
        raise RequestError("the last message must be a user or tool message", param="messages")
    return ChatRequest(
        model=model,
        stream=given.get("stream") is True,
        include_usage=object_of(given, "stream_options").get("include_usage") is True,
        include_reasoning=given.get("include_reasoning") is True,
        context_id=str(object_of(given, "metadata").get("context_id") or ""),
        asked=asked,
    )


def content_parts(content: Any) -> list[Part]:
    """The content of a message, text or a list of parts, as A2A parts."""
    if isinstance(content, str):
        return [Part(text=content)] if content else []
    return [media.from_chat_content(object_of(item)) for item in list_of(content)]


def tools_of(declared: list[Any]) -> list[ClientTool]:
    """The function tools among the declared ones, nested as in Chat or flat as in Responses."""
    tools: list[ClientTool] = []
    for tool in map(object_of, declared):
        function = object_of(tool, "function") or tool
        if tool.get("type") != "function" or not function.get("name"):
            continue
        description = str(function.get("description") or "")
        parameters = object_of(function, "parameters")
        tools.append(ClientTool(str(function["name"]), description, parameters))
    return tools


def _asked(given: dict[str, Any], messages: list[dict[str, Any]]) -> Asked:
    earlier, new = _split(messages)
    names = _names_of_calls(messages)
    results = {
        _call_id(message): _tool_part(message, names)
        for message in new
        if message.get("role") == "tool"
    }
    spoken = [
        part
        for message in new
        if message.get("role") == "user"
        for part in content_parts(message.get("content"))
    ]
    return Asked(
        results=results,
        spoken=spoken,
        history=[before for message in earlier for before in _said_before(message, names)],
        tools=[] if given.get("tool_choice") == "none" else tools_of(list_of(given, "tools")),
        instructions=[
            _text(message.get("content"))
            for message in messages
            if message.get("role") in ("system", "developer")
        ],
    )


def _split(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    spoken = [index for index, item in enumerate(messages) if item.get("role") == "assistant"]
    new_from = spoken[-1] + 1 if spoken else 0
    return messages[:new_from], messages[new_from:]


def _names_of_calls(messages: list[dict[str, Any]]) -> dict[str, str]:
    return {
        str(call.get("id")): str(object_of(call, "function").get("name") or "")
        for message in messages
        for call in map(object_of, list_of(message, "tool_calls"))
    }


def _said_before(message: dict[str, Any], names: dict[str, str]) -> list[Message]:
    match message.get("role"):
        case "user":
            parts = content_parts(message.get("content"))
            return [Message(role=Role.ROLE_USER, parts=parts)] if parts else []
        case "assistant":
            parts = [*content_parts(message.get("content")), *_calls(message)]
            return [Message(role=Role.ROLE_AGENT, parts=parts)] if parts else []
        case "tool":
            return [Message(role=Role.ROLE_USER, parts=[_tool_part(message, names)])]
        case _:
            return []


def _calls(message: dict[str, Any]) -> list[Part]:
    return [
        call_part(
            str(call.get("id")),
            str(object_of(call, "function").get("name") or ""),
            str(object_of(call, "function").get("arguments") or "{}"),
        )
        for call in map(object_of, list_of(message, "tool_calls"))
    ]


def _tool_part(message: dict[str, Any], names: dict[str, str]) -> Part:
    call_id = _call_id(message)
    return result_part(call_id, names.get(call_id, ""), _text(message.get("content")))


def _call_id(message: dict[str, Any]) -> str:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise RequestError("a tool message needs tool_call_id", param="messages")
    return call_id


def _text(content: Any) -> str:
    return "".join(part.text for part in content_parts(content))
