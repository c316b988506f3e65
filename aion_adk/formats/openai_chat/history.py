"""The messages of an AG-UI thread as a chat history that OpenAI's API takes.

It refuses a history in which a call has no result directly after it, so that what a stream left
apart is put together here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aion_adk.formats import media
from aion_adk.formats.tools import as_text
from aion_adk.values import list_of, object_of

ChatMessage = dict[str, Any]

NO_RESULT = "The call was not answered."


def messages_to_chat(messages: Iterable[Mapping[str, Any]]) -> list[ChatMessage]:
    """Results follow their calls, unanswered calls get one unless they are the last thing said,
    and results without a call and messages without content are left out."""
    given = [dict(message) for message in messages]
    results = {
        str(message["toolCallId"]): message for message in given if message.get("role") == "tool"
    }
    chat: list[ChatMessage] = []
    last = max((i for i, item in enumerate(given) if item.get("role") != "tool"), default=-1)
    for index, message in enumerate(given):
        match message.get("role"):
            case "assistant":
                _add_assistant(chat, message, results, is_last=index == last)
            case "user" | "system" | "developer" as role:
                content = media.content_to_chat(message.get("content") or "")
                chat.append({"role": role, "content": content})
            case _:
                pass
    return chat


def _add_assistant(
    chat: list[ChatMessage],
    message: Mapping[str, Any],
    results: Mapping[str, Mapping[str, Any]],
    *,
    is_last: bool,
) -> None:
    text = str(message.get("content") or "")
    calls = [object_of(call) for call in list_of(message, "toolCalls")]
    if not text and not calls:
        return
    spoken: ChatMessage = {"role": "assistant", "content": text}
    if calls:
        before = chat[-1] if chat else {}
        # What was said just before a call is one message with it.
        if not text and before.get("role") == "assistant" and "tool_calls" not in before:
            spoken = chat.pop()
        spoken["tool_calls"] = [{k: call[k] for k in ("id", "type", "function")} for call in calls]
    chat.append(spoken)
    for call in calls:
        answer = results.get(str(call["id"]))
        if answer is None and is_last:
            continue
        content = as_text(answer["content"]) if answer else NO_RESULT
        chat.append({"role": "tool", "tool_call_id": call["id"], "content": content})
