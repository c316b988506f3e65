"""LangChain messages and genai parts, one as the other."""

import base64
import json
from collections.abc import Iterable
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic_core import to_jsonable_python

from aion_adk.drivers.request import inbox_or_none, is_whole_request, text_of_request
from aion_adk.outbound import MESSAGE_ID


def parts_of(message: AIMessage) -> list[types.Part]:
    """The content blocks that a reader is meant for; reasoning becomes thoughts."""
    if isinstance(message.content, str):
        return [types.Part(text=message.content)] if message.content else []
    return [part for block in message.content_blocks if (part := _part_of(dict(block)))]


def _part_of(block: dict[str, Any]) -> types.Part | None:
    match block:
        case {"type": "text", "text": str(text)} if text:
            return types.Part(text=text)
        case {"type": "reasoning", "reasoning": str(text)} if text:
            return types.Part(text=text, thought=True)
        case {"base64": str(encoded)}:
            blob = types.Blob(data=base64.b64decode(encoded), mime_type=block.get("mime_type"))
            return types.Part(inline_data=blob)
        case {"url": str(url)}:
            return types.Part(
                file_data=types.FileData(file_uri=url, mime_type=block.get("mime_type"))
            )
        case _:
            return None


def tool_parts(messages: Iterable[BaseMessage]) -> list[types.Part]:
    """Tool calls and their results as function calls and responses."""
    parts: list[types.Part] = []
    for message in messages:
        match message:
            case AIMessage():
                parts += [_function_call(dict(call)) for call in message.tool_calls]
            case ToolMessage():
                parts.append(_function_response(message))
            case _:
                pass
    return parts


def _function_call(call: dict[str, Any]) -> types.Part:
    return types.Part(
        function_call=types.FunctionCall(id=call["id"], name=call["name"], args=call["args"])
    )


def _function_response(message: ToolMessage) -> types.Part:
    key = "error" if message.status == "error" else "result"
    content: Any = message.content  # pyright: ignore[reportUnknownMemberType]  # str | list | dict
    return types.Part(
        function_response=types.FunctionResponse(
            id=message.tool_call_id,
            name=message.name or "tool",
            response={key: to_jsonable_python(content, fallback=str)},
        )
    )


def human_message(ctx: InvocationContext) -> HumanMessage | None:
    """The request as one message with the id of the caller's; None if it has no text."""
    text = text_of_request(ctx)
    if not text:
        return None
    inbox = inbox_or_none(ctx)
    message_id = inbox.message.message_id if inbox and is_whole_request(ctx) else None
    return HumanMessage(content=text, id=message_id or None)


def conversation(ctx: InvocationContext) -> list[BaseMessage]:
    """What the user and this agent said in the session before this turn.

    Of each earlier turn the agent's last words are taken: what it said before them was on
    the way to the answer.
    """
    agent = ctx.agent.name if ctx.agent else ""
    turns: dict[str, list[BaseMessage]] = {}
    for event in ctx.session.events:
        text = _spoken(event)
        if event.invocation_id == ctx.invocation_id or not text:
            continue
        said = turns.setdefault(event.invocation_id, [])
        if event.author == "user":
            said.append(HumanMessage(content=text, id=event.id))
        elif event.author == agent:
            if said and isinstance(said[-1], AIMessage):
                said.pop()
            said.append(AIMessage(content=text, id=(event.custom_metadata or {}).get(MESSAGE_ID)))
    return [message for said in turns.values() for message in said]


def _spoken(event: Event) -> str:
    parts = (event.content.parts or []) if event.content and not event.partial else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def json_text(value: Any) -> str:
    return json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False)
