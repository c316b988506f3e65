"""A conversation as AG-UI messages: of a turn while it is told, and of a stored task."""

from collections.abc import Iterable
from typing import Any

from a2a.types import Message, Part, Role, Task

from aion_adk.formats import media
from aion_adk.formats.said import Answered, CallEnded, CallStarted, Said, Shown, SpeechEnded
from aion_adk.formats.tools import ToolCall, tool_calls_of, tool_results_of
from aion_adk.formats.voices import speech_of, thought_of
from aion_adk.values import list_of, to_plain

AGUIMessage = dict[str, Any]

ARTIFACT = "a2a.artifact"


class Record:
    """The messages of a turn, written down as each of them is whole."""

    def __init__(self) -> None:
        self.messages: list[AGUIMessage] = []
        self._parents: dict[str, str] = {}

    def hear(self, said: Said) -> None:
        match said:
            case SpeechEnded(id, text, thought):
                self._message(id, "reasoning" if thought else "assistant")["content"] = text
            case CallStarted(id, _, parent_id):
                self._parents[id] = parent_id
            case CallEnded(call):
                parent = self._message(self._parents.get(call.id, call.id), "assistant")
                parent.setdefault("toolCalls", []).append(_tool_call(call))
            case Answered(message_id, result):
                message = self._message(message_id, "tool")
                message.update(toolCallId=result.id, content=result.text)
            case Shown(id, name, parts, append):
                self._show(id, name, parts, append=append)
            case _:
                pass

    def _show(self, message_id: str, name: str, parts: list[Part], *, append: bool) -> None:
        message = self._message(message_id, "activity")
        before = list_of(message.get("content"), "parts") if append else []
        shown = [*before, *shown_content(parts)]
        message.update(activityType=ARTIFACT, content={"name": name, "parts": shown})

    def _message(self, message_id: str, role: str) -> AGUIMessage:
        found = [message for message in self.messages if message["id"] == message_id]
        if not found:
            found = [{"id": message_id, "role": role}]
            self.messages += found
        return found[0]


def task_to_messages(task: Task) -> list[AGUIMessage]:
    """A stored task as the messages of an AG-UI thread."""
    history = list(task.history)
    if task.status.HasField("message") and task.status.message not in history:
        history.append(task.status.message)
    return [told for message in history for told in message_to_agui(message)]


def message_to_agui(message: Message) -> list[AGUIMessage]:
    results = [
        {
            "id": f"{message.message_id}:{result.id}",
            "role": "tool",
            "toolCallId": result.id,
            "content": result.text,
        }
        for result in tool_results_of(message)
    ]
    if message.role == Role.ROLE_USER:
        content = _user_content(message.parts)
        said = [{"id": message.message_id, "role": "user", "content": content}] if content else []
        return [*results, *said]
    return [*_agent_messages(message), *results]


def shown_content(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [_shown_part(part) for part in parts]


def _agent_messages(message: Message) -> list[AGUIMessage]:
    said: list[AGUIMessage] = []
    if thought := thought_of(message):
        reasoning_id = f"{message.message_id}:thought"
        said.append({"id": reasoning_id, "role": "reasoning", "content": thought})
    text, calls = speech_of(message), tool_calls_of(message)
    if text or calls:
        content = {"content": text} if text else {}
        tool_calls = {"toolCalls": [_tool_call(call) for call in calls]} if calls else {}
        assistant = {"id": message.message_id, "role": "assistant"}
        said.append({**assistant, **content, **tool_calls})
    return said


def _user_content(parts: Iterable[Part]) -> str | list[dict[str, Any]]:
    shown = [part for part in parts if part.WhichOneof("content") in ("text", "raw", "url")]
    if all(part.HasField("text") for part in shown):
        return "".join(part.text for part in shown)
    return shown_content(shown)


def _shown_part(part: Part) -> dict[str, Any]:
    match part.WhichOneof("content"):
        case "data":
            return {"type": "data", "data": to_plain(part.data)}
        case "raw" | "url":
            return media.to_agui_content(part)
        case _:
            return {"type": "text", "text": part.text}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments_json}
    return {"id": call.id, "type": "function", "function": function}
