"""LangChain messages as genai parts, and the ADK session as LangChain messages."""

import base64
from collections.abc import Iterable
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.genai import types
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic_core import to_jsonable_python

from aion_adk.drivers.inputs import caller_texts, inbox_or_none, text_of_request
from aion_adk.protocol.from_genai import MESSAGE_ID, genai_parts, texts_in


def parts_of(message: AIMessage) -> list[types.Part]:
    """The content blocks that are meant for a reader; reasoning becomes thoughts."""
    if isinstance(message.content, str):
        return [types.Part(text=message.content)] if message.content else []
    parts: list[types.Part] = []
    for block in message.content_blocks:
        given: dict[str, Any] = dict(block)
        mime_type = given.get("mime_type")
        match given:
            case {"type": "text", "text": str(text)} if text:
                parts.append(types.Part(text=text))
            case {"type": "reasoning", "reasoning": str(text)} if text:
                parts.append(types.Part(text=text, thought=True))
            case {"base64": str(encoded)}:
                blob = types.Blob(data=base64.b64decode(encoded), mime_type=mime_type)
                parts.append(types.Part(inline_data=blob))
            case {"url": str(url)}:
                file = types.FileData(file_uri=url, mime_type=mime_type)
                parts.append(types.Part(file_data=file))
            case _:
                pass
    return parts


def tool_parts(messages: Iterable[BaseMessage]) -> list[types.Part]:
    """Tool calls and their results as function calls and responses."""
    parts: list[types.Part] = []
    for message in messages:
        match message:
            case AIMessage():
                for call in message.tool_calls:
                    made = types.FunctionCall(id=call["id"], name=call["name"], args=call["args"])
                    parts.append(types.Part(function_call=made))
            case ToolMessage():
                key = "error" if message.status == "error" else "result"
                content: Any = message.content  # pyright: ignore[reportUnknownMemberType]  # str | list | dict
                result = types.FunctionResponse(
                    id=message.tool_call_id,
                    name=message.name or "tool",
                    response={key: to_jsonable_python(content, fallback=str)},
                )
                parts.append(types.Part(function_response=result))
            case _:
                pass
    return parts


def request_messages(ctx: InvocationContext) -> list[BaseMessage]:
    """The request as one message with the id of the caller's; none if it has no text."""
    text = text_of_request(ctx)
    if not text:
        return []
    inbox = inbox_or_none(ctx)
    message_id = inbox.message.message_id if inbox and caller_texts(ctx) else None
    return [HumanMessage(content=text, id=message_id or None)]


def messages_before_turn(ctx: InvocationContext) -> list[BaseMessage]:
    """The messages of the user and of this agent in the session before this turn.

    Of the agent's messages in each earlier turn only the last is taken: the ones before it were
    steps on the way to the answer.
    """
    agent = ctx.agent.name if ctx.agent else ""
    turns: dict[str, list[BaseMessage]] = {}
    for event in ctx.session.events:
        text = "\n".join(texts_in(genai_parts(event.content)))
        if event.partial or event.invocation_id == ctx.invocation_id or not text:
            continue
        messages = turns.setdefault(event.invocation_id, [])
        if event.author == "user":
            messages.append(HumanMessage(content=text, id=event.id))
        elif event.author == agent:
            if messages and isinstance(messages[-1], AIMessage):
                messages.pop()
            message_id = (event.custom_metadata or {}).get(MESSAGE_ID)
            messages.append(AIMessage(content=text, id=message_id))
    return [message for messages in turns.values() for message in messages]
