"""Reads the body of a Responses API request."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from a2a.types import Part

from aion_adk.formats.tools import ToolCall, as_text
from aion_adk.front_ends.request import (
    ClientTurn,
    Entry,
    RequestError,
    client_turn,
    openai_model,
    openai_parts,
    openai_tools,
)
from aion_adk.protocol.structs import list_of, object_of

_ECHOED = ("tools", "tool_choice", "parallel_tool_calls", "metadata", "instructions")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesRequest:
    """A request for a response, which begins a new conversation unless it names an earlier one.

    `echo` holds the fields that the response repeats.
    """

    model: str
    stream: bool
    previous_response_id: str
    context_id: str
    echo: dict[str, Any]
    turn: ClientTurn


def read_request(body: object) -> ResponsesRequest:
    """Reads the body of a POST; raises a RequestError if it is not valid."""
    given = object_of(body)
    model = openai_model(given)
    if given.get("background") is True:
        raise RequestError("background responses are not served", param="background")
    turn = client_turn(_entries(given), param="input", tools=openai_tools(given))
    if turn.is_empty:
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
        turn=turn,
    )


def _entries(given: dict[str, Any]) -> Iterator[Entry]:
    if instructions := given.get("instructions"):
        yield Entry(role="system", parts=[Part(text=str(instructions))])
    items: Any = given.get("input")
    if isinstance(items, str):
        yield Entry(role="user", parts=openai_parts(items))
    for item in map(object_of, list_of(items)):
        match item:
            case {"type": "function_call"}:
                name, arguments = item.get("name") or "", item.get("arguments") or "{}"
                call = ToolCall(str(item.get("call_id")), str(name), str(arguments))
                yield Entry(role="agent", calls=[call])
            case {"type": "function_call_output"}:
                call_id, output = item.get("call_id"), item.get("output")
                if not isinstance(call_id, str) or not call_id:
                    raise RequestError("a function_call_output needs call_id", param="input")
                if isinstance(output, list):
                    output = "".join(part.text for part in openai_parts(output))
                yield Entry(role="tool", call_id=call_id, output=output or as_text(output))
            case {"type": "reasoning" | "mcp_call"}:
                yield Entry(role="agent")
            case {"role": "assistant"}:
                yield Entry(role="agent", parts=openai_parts(item.get("content")))
            case {"role": "user"}:
                yield Entry(role="user", parts=openai_parts(item.get("content")))
            case {"role": "system" | "developer"}:
                yield Entry(role="system", parts=openai_parts(item.get("content")))
            case _:
                pass
