"""Reads the body of a Chat Completions request."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aion_adk.formats.tools import ToolCall
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A request for a completion, in the conversation `context_id` if the client names one."""

    model: str
    stream: bool
    include_usage: bool
    include_reasoning: bool
    context_id: str
    turn: ClientTurn


def read_request(body: object) -> ChatRequest:
    """Reads the body of a POST; raises a RequestError if it is not valid."""
    given = object_of(body)
    model = openai_model(given)
    messages = [object_of(item) for item in list_of(given, "messages")]
    if not messages:
        raise RequestError("messages must be a list of at least one message", param="messages")
    turn = client_turn(_entries(messages), param="messages", tools=openai_tools(given))
    if turn.is_empty:
        raise RequestError("the last message must be a user or tool message", param="messages")
    return ChatRequest(
        model=model,
        stream=given.get("stream") is True,
        include_usage=object_of(given, "stream_options").get("include_usage") is True,
        include_reasoning=given.get("include_reasoning") is True,
        context_id=str(object_of(given, "metadata").get("context_id") or ""),
        turn=turn,
    )


def _entries(messages: list[dict[str, Any]]) -> Iterator[Entry]:
    for message in messages:
        content = message.get("content")
        match message.get("role"):
            case "system" | "developer":
                yield Entry(role="system", parts=openai_parts(content))
            case "user":
                yield Entry(role="user", parts=openai_parts(content))
            case "assistant":
                calls: list[ToolCall] = []
                for call in list_of(message, "tool_calls"):
                    function, call_id = object_of(call, "function"), object_of(call).get("id")
                    name, arguments = function.get("name") or "", function.get("arguments") or "{}"
                    calls.append(ToolCall(str(call_id), str(name), str(arguments)))
                yield Entry(role="agent", parts=openai_parts(content), calls=calls)
            case "tool":
                call_id = message.get("tool_call_id")
                if not isinstance(call_id, str) or not call_id:
                    raise RequestError("a tool message needs tool_call_id", param="messages")
                output = "".join(part.text for part in openai_parts(content))
                yield Entry(role="tool", call_id=call_id, output=output)
            case _:
                pass
