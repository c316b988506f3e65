"""Reads AG-UI's `RunAgentInput`."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from a2a.types import Part

from aion_adk.context.client_tools import ClientTool
from aion_adk.errors import LoadError
from aion_adk.formats import media
from aion_adk.formats.tools import ToolCall
from aion_adk.front_ends.request import ClientTurn, Entry, RequestError, client_turn
from aion_adk.protocol.structs import list_of, object_of

try:
    from ag_ui.core import RunAgentInput
    from pydantic import ValidationError
except ImportError as error:
    raise LoadError("AG-UI needs the package ag-ui-protocol: install aion-adk[agui]") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class AGUIRequest:
    """A request to run the agent.

    `interrupts`: pauses shall have the interrupt outcome (from `forwardedProps`). `cancels`: the
    client cancels everything that the agent waits for.
    """

    thread_id: str
    run_id: str
    protocol_version: str | None
    interrupts: bool
    cancels: bool
    messages: list[dict[str, Any]]
    turn: ClientTurn


def read_request(body: object) -> AGUIRequest:
    """Reads the body of a POST; raises a RequestError if it is not valid."""
    try:
        given = RunAgentInput.model_validate(_in_version_1(object_of(body)))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise RequestError(
            f"Not a RunAgentInput: {where}: {problem['msg']}", param=where
        ) from error
    except media.ContentError as error:
        raise RequestError(str(error), param="messages") from error
    messages = [message.model_dump(by_alias=True, mode="json") for message in given.messages]
    resume = [entry.model_dump(by_alias=True, mode="json") for entry in given.resume or []]
    turn = client_turn(
        itertools.chain(_entries(messages), _context_entries(given)),
        param="messages",
        tools=[
            ClientTool(tool.name, tool.description, object_of(tool.parameters))
            for tool in given.tools or []
        ],
        state=object_of(given.state),
        resumed=map(_resume_entry, resume),
    )
    return AGUIRequest(
        thread_id=given.thread_id,
        run_id=given.run_id,
        protocol_version=given.protocol_version,
        interrupts=object_of(given.forwarded_props).get("interrupts") is True,
        cancels=bool(resume) and all(entry["status"] == "cancelled" for entry in resume),
        messages=messages,
        turn=turn,
    )


def _entries(messages: list[dict[str, Any]]) -> Iterator[Entry]:
    for message in messages:
        content: Any = message.get("content") or ""
        match message["role"]:
            case "system" | "developer":
                yield Entry(role="system", parts=[Part(text=content)])
            case "user":
                yield Entry(role="user", parts=_parts(content))
            case "assistant":
                calls = [
                    ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                    for call in map(object_of, list_of(message, "toolCalls"))
                ]
                yield Entry(role="agent", parts=_parts(content), calls=calls)
            case "tool":
                if message.get("error"):
                    content = {"error": message["error"]}
                elif not isinstance(content, str):
                    content = "".join(item.get("text", "") for item in map(object_of, content))
                yield Entry(role="tool", call_id=message["toolCallId"], output=content)
            case _:
                yield Entry(role="agent")


def _context_entries(given: RunAgentInput) -> Iterator[Entry]:
    for item in given.context or []:
        yield Entry(role="system", parts=[Part(text=f"{item.description}: {item.value}")])


def _resume_entry(resume: Mapping[str, Any]) -> Entry:
    output = resume.get("payload") if resume["status"] == "resolved" else False
    return Entry(role="tool", call_id=resume["interruptId"], output=output)


def _parts(content: str | list[dict[str, Any]]) -> list[Part]:
    if isinstance(content, str):
        return [Part(text=content)] if content else []
    return [media.from_agui_content(item) for item in content]


def _in_version_1(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with the `binary` parts of older clients as 1.0 has them: one type for each kind."""
    messages: list[dict[str, Any]] = []
    for message in map(object_of, list_of(body, "messages")):
        content = [
            media.to_agui_content(media.from_agui_content(item))
            if item.get("type") == "binary"
            else item
            for item in map(object_of, list_of(message, "content"))
        ]
        messages.append({**message, "content": content} if content else message)
    return {**body, "messages": messages} if messages else dict(body)
