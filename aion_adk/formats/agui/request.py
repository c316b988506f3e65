"""`RunAgentInput` as a turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a2a.types import Message, Part, Role

from aion_adk.errors import LoadError
from aion_adk.formats import media
from aion_adk.formats.media import ContentError
from aion_adk.formats.request import Asked, ClientTool, RequestError, call_part, result_part
from aion_adk.values import list_of, object_of

try:
    from ag_ui.core import RunAgentInput
    from pydantic import ValidationError
except ImportError as error:
    raise LoadError("AG-UI needs the package ag-ui-protocol: install aion-adk[agui]") from error

_SPOKEN_BY_AGENT = ("assistant", "reasoning", "activity")
_INTERRUPTS = "interrupts"


@dataclass(frozen=True, slots=True, kw_only=True)
class AGUIRequest:
    """A run that a client asks for.

    `interrupts` is the client's wish, in `forwardedProps`, to be told of a pause as an
    interrupt. `abandons` tells that it gives up everything the agent waits for.
    """

    thread_id: str
    run_id: str
    protocol_version: str | None
    interrupts: bool
    abandons: bool
    messages: list[dict[str, Any]]
    asked: Asked


def read_request(body: object) -> AGUIRequest:
    """The body of a POST as a run; a RequestError says what is wrong with it."""
    try:
        given = RunAgentInput.model_validate(_modern(object_of(body)))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise RequestError(
            f"Not a RunAgentInput: {where}: {problem['msg']}", param=where
        ) from error
    messages = [message.model_dump(by_alias=True, mode="json") for message in given.messages]
    resumed = [entry.model_dump(by_alias=True, mode="json") for entry in given.resume or []]
    try:
        asked = _asked(given, messages, resumed)
    except ContentError as error:
        raise RequestError(str(error), param="messages") from error
    return AGUIRequest(
        thread_id=given.thread_id,
        run_id=given.run_id,
        protocol_version=given.protocol_version,
        interrupts=object_of(given.forwarded_props).get(_INTERRUPTS) is True,
        abandons=bool(resumed) and all(entry["status"] == "cancelled" for entry in resumed),
        messages=messages,
        asked=asked,
    )


def _asked(
    given: RunAgentInput, messages: list[dict[str, Any]], resumed: list[dict[str, Any]]
) -> Asked:
    earlier, new = _split(messages)
    names = _names_of_calls(messages)
    results = {entry["interruptId"]: _resume_part(entry, names) for entry in resumed}
    for message in new:
        if message["role"] == "tool":
            results.setdefault(message["toolCallId"], _tool_part(message, names))
    spoken = [part for message in new if message["role"] == "user" for part in user_parts(message)]
    return Asked(
        results=results,
        spoken=spoken,
        history=[before for message in earlier for before in _said_before(message, names)],
        tools=[
            ClientTool(tool.name, tool.description, dict(object_of(tool.parameters)))
            for tool in given.tools or []
        ],
        instructions=[*_instructions(messages), *_context(given)],
        state=dict(object_of(given.state)),
    )


def user_parts(message: Mapping[str, Any]) -> list[Part]:
    content = message.get("content") or ""
    if isinstance(content, str):
        return [Part(text=content)] if content else []
    return [media.from_agui_content(item) for item in content]


def _split(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What was said before, and what came after the agent last spoke."""
    last = max(
        (index for index, item in enumerate(messages) if item["role"] in _SPOKEN_BY_AGENT),
        default=-1,
    )
    return messages[: last + 1], messages[last + 1 :]


def _names_of_calls(messages: list[dict[str, Any]]) -> dict[str, str]:
    return {
        call["id"]: call["function"]["name"]
        for message in messages
        for call in map(object_of, list_of(message, "toolCalls"))
    }


def _resume_part(entry: Mapping[str, Any], names: Mapping[str, str]) -> Part:
    call_id = entry["interruptId"]
    output = entry.get("payload") if entry["status"] == "resolved" else False
    return result_part(call_id, names.get(call_id, ""), output)


def _tool_part(message: Mapping[str, Any], names: Mapping[str, str]) -> Part:
    call_id = message["toolCallId"]
    output: Any = message["content"]
    if message.get("error"):
        output = {"error": message["error"]}
    elif not isinstance(output, str):
        output = "".join(item.get("text", "") for item in output)
    return result_part(call_id, names.get(call_id, ""), output)


def _said_before(message: Mapping[str, Any], names: Mapping[str, str]) -> list[Message]:
    match message["role"]:
        case "user":
            return [Message(role=Role.ROLE_USER, parts=user_parts(message))]
        case "assistant":
            said = [Part(text=message["content"])] if message.get("content") else []
            calls = [
                call_part(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in map(object_of, list_of(message, "toolCalls"))
            ]
            parts = [*said, *calls]
            return [Message(role=Role.ROLE_AGENT, parts=parts)] if parts else []
        case "tool":
            return [Message(role=Role.ROLE_USER, parts=[_tool_part(message, names)])]
        case _:
            return []


def _instructions(messages: list[dict[str, Any]]) -> list[str]:
    return [item["content"] for item in messages if item["role"] in ("system", "developer")]


def _context(given: RunAgentInput) -> list[str]:
    return [f"{item.description}: {item.value}" for item in given.context or []]


def _modern(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body of the older dialect in the shape of 1.0: its one file part by kinds."""
    messages = [_modern_message(object_of(item)) for item in list_of(body, "messages")]
    return {**body, "messages": messages} if messages else dict(body)


def _modern_message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = [_modern_content(object_of(item)) for item in list_of(message, "content")]
    return {**message, "content": content} if content else dict(message)


def _modern_content(content: Mapping[str, Any]) -> dict[str, Any]:
    if content.get("type") != "binary":
        return dict(content)
    return media.to_agui_content(media.from_agui_content(content))
