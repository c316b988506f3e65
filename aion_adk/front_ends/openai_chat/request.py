"""Reads the body of a Chat Completions request."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aion_adk.front_ends.request import (
    ClientTurn,
    Entry,
    EntryCall,
    RequestError,
    client_turn,
    openai_parts,
    openai_tools,
)
from aion_adk.protocol.structs import list_of, object_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A completion that a client wants, in the conversation `context_id` if it names one."""

    model: str
    stream: bool
    include_usage: bool
    include_reasoning: bool
    context_id: str
    turn: ClientTurn


def read_request(body: object) -> ChatRequest:
    """The body of a POST; a RequestError says what is wrong with it."""
    given = object_of(body)
    model = given.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError("you must provide a model parameter", param="model")
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
                calls = [
                    EntryCall(
                        id=str(call.get("id")),
                        name=str(object_of(call, "function").get("name") or ""),
                        arguments=str(object_of(call, "function").get("arguments") or "{}"),
                    )
                    for call in map(object_of, list_of(message, "tool_calls"))
                ]
                yield Entry(role="agent", parts=openai_parts(content), calls=calls)
            case "tool":
                call_id = message.get("tool_call_id")
                if not isinstance(call_id, str) or not call_id:
                    raise RequestError("a tool message needs tool_call_id", param="messages")
                output = "".join(part.text for part in openai_parts(content))
                yield Entry(role="tool", call_id=call_id, output=output)
            case _:
                pass
