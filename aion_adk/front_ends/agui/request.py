"""Reads AG-UI's `RunAgentInput`."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from a2a.types import Part

from aion_adk.context.client_tools import ClientTool
from aion_adk.errors import LoadError
from aion_adk.formats import media
from aion_adk.front_ends.request import ClientTurn, Entry, EntryCall, RequestError, client_turn
from aion_adk.protocol.structs import list_of, object_of

try:
    from ag_ui.core import RunAgentInput
    from pydantic import ValidationError
except ImportError as error:
    raise LoadError("AG-UI needs the package ag-ui-protocol: install aion-adk[agui]") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class AGUIRequest:
    """A run that a client wants.

    `interrupts`: the client asks in `forwardedProps` for pauses as interrupts. `abandons`: it
    gives up everything the agent waits for.
    """

    thread_id: str
    run_id: str
    protocol_version: str | None
    interrupts: bool
    abandons: bool
    messages: list[dict[str, Any]]
    turn: ClientTurn


def read_request(body: object) -> AGUIRequest:
    """The body of a POST; a RequestError says what is wrong with it."""
    try:
        given = RunAgentInput.model_validate(_modern(object_of(body)))
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
        itertools.chain(_entries(messages), _context(given)),
        param="messages",
        tools=[
            ClientTool(tool.name, tool.description, object_of(tool.parameters))
            for tool in given.tools or []
        ],
        state=object_of(given.state),
        resumed=map(_resumed, resume),
    )
    return AGUIRequest(
        thread_id=given.thread_id,
        run_id=given.run_id,
        protocol_version=given.protocol_version,
        interrupts=object_of(given.forwarded_props).get("interrupts") is True,
        abandons=bool(resume) and all(entry["status"] == "cancelled" for entry in resume),
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
                    EntryCall(
                        id=call["id"],
                        name=call["function"]["name"],
                        arguments=call["function"]["arguments"],
                    )
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


def _context(given: RunAgentInput) -> Iterator[Entry]:
    for item in given.context or []:
        yield Entry(role="system", parts=[Part(text=f"{item.description}: {item.value}")])


def _resumed(entry: Mapping[str, Any]) -> Entry:
    output = entry.get("payload") if entry["status"] == "resolved" else False
    return Entry(role="tool", call_id=entry["interruptId"], output=output)


def _parts(content: str | list[dict[str, Any]]) -> list[Part]:
    if isinstance(content, str):
        return [Part(text=content)] if content else []
    return [media.from_agui_content(item) for item in content]


def _modern(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body of the older dialect in the shape of 1.0, which has a kind for each file part."""
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
