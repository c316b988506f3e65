"""A Responses API request as a turn."""

from dataclasses import dataclass
from typing import Any

from a2a.types import Message, Part, Role

from aion_adk.formats.media import ContentError
from aion_adk.formats.openai_chat.request import content_parts, tools_of
from aion_adk.formats.request import Asked, RequestError, call_part, result_part
from aion_adk.formats.tools import as_text
from aion_adk.values import list_of, object_of

_ECHOED = ("tools", "tool_choice", "parallel_tool_calls", "metadata", "instructions")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesRequest:
    """A response that a client asks for.

    It goes on after `previous_response_id` or with the conversation `context_id`; without
    either it is the first of a new one.
    """

    model: str
    stream: bool
    previous_response_id: str
    context_id: str
    echo: dict[str, Any]
    asked: Asked


def read_request(body: object) -> ResponsesRequest:
    given = object_of(body)
    model = given.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError("you must provide a model parameter", param="model")
    if given.get("background") is True:
        raise RequestError("background responses are not served", param="background")
    items = _items(given.get("input"))
    try:
        asked = _asked(given, items)
    except ContentError as error:
        raise RequestError(str(error), param="input") from error
    if asked.is_empty:
        raise RequestError("input must hold a user message or a tool output", param="input")
    conversation: Any = given.get("conversation")
    previous = str(given.get("previous_response_id") or "")
    echo = {key: given[key] for key in _ECHOED if given.get(key) is not None}
    return ResponsesRequest(
        model=model,
        stream=given.get("stream") is True,
        previous_response_id=previous,
        context_id=str(object_of(conversation).get("id") or conversation or ""),
        echo={**echo, "previous_response_id": previous or None},
        asked=asked,
    )


def _items(given: Any) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}] if given else []
    return [object_of(item) for item in list_of(given)]


def _asked(given: dict[str, Any], items: list[dict[str, Any]]) -> Asked:
    earlier, new = _split(items)
    names = {
        str(item.get("call_id")): str(item.get("name") or "")
        for item in items
        if item.get("type") == "function_call"
    }
    results = {str(item.get("call_id")): _result(item, names) for item in new if _is_output(item)}
    spoken = [
        part
        for item in new
        if item.get("role") == "user"
        for part in content_parts(item.get("content"))
    ]
    instructions = [str(given["instructions"])] if given.get("instructions") else []
    instructions += [
        "".join(part.text for part in content_parts(item.get("content")))
        for item in items
        if item.get("role") in ("system", "developer")
    ]
    return Asked(
        results=results,
        spoken=spoken,
        history=[before for item in earlier for before in _said_before(item, names)],
        tools=[] if given.get("tool_choice") == "none" else tools_of(list_of(given, "tools")),
        instructions=instructions,
    )


def _split(items: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What was said before, and what is new: all that follows the model's last item."""
    made_by_model = [
        index
        for index, item in enumerate(items)
        if item.get("role") == "assistant"
        or item.get("type") in ("function_call", "reasoning", "mcp_call")
    ]
    new_from = made_by_model[-1] + 1 if made_by_model else 0
    return items[:new_from], items[new_from:]


def _said_before(item: dict[str, Any], names: dict[str, str]) -> list[Message]:
    if item.get("type") == "function_call":
        arguments = str(item.get("arguments") or "{}")
        call = call_part(str(item.get("call_id")), str(item.get("name") or ""), arguments)
        return [Message(role=Role.ROLE_AGENT, parts=[call])]
    if _is_output(item):
        return [Message(role=Role.ROLE_USER, parts=[_result(item, names)])]
    if item.get("role") not in ("user", "assistant"):
        return []
    role = Role.ROLE_USER if item["role"] == "user" else Role.ROLE_AGENT
    parts = content_parts(item.get("content"))
    return [Message(role=role, parts=parts)] if parts else []


def _is_output(item: dict[str, Any]) -> bool:
    return item.get("type") == "function_call_output"


def _result(item: dict[str, Any], names: dict[str, str]) -> Part:
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not call_id:
        raise RequestError("a function_call_output needs call_id", param="input")
    output = item.get("output")
    if isinstance(output, list):
        output = "".join(part.text for part in content_parts(output))
    return result_part(call_id, names.get(call_id, ""), output if output else as_text(output))
