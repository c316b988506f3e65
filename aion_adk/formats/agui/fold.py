"""AG-UI events to the messages that a client ends up with."""

from collections.abc import Iterable, Mapping
from typing import Any

from aion_adk.values import object_of

Event = Mapping[str, Any]
AGUIMessage = dict[str, Any]


def fold(events: Iterable[Event]) -> list[AGUIMessage]:
    """The messages, in the order in which they began; calls go with their parent."""
    folding = _Fold()
    for event in events:
        folding.take(event)
    return folding.messages


class _Fold:
    def __init__(self) -> None:
        self.messages: list[AGUIMessage] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self._chunk_id = ""
        self._chunk_call = ""

    def take(self, event: Event) -> None:
        kind = str(event.get("type"))
        if kind.startswith(("TEXT_MESSAGE_", "REASONING_MESSAGE_")):
            self._take_speech(kind, event)
        elif kind.startswith("TOOL_CALL_"):
            self._take_call(kind, event)
        elif kind == "MESSAGES_SNAPSHOT":
            self.messages = [dict(message) for message in event["messages"]]
        elif kind == "ACTIVITY_SNAPSHOT":
            self._take_activity(event)
        elif kind == "ACTIVITY_DELTA":
            message = self._message(event["messageId"], "activity")
            added = [item["value"] for item in event["patch"]]
            content = object_of(message.get("content"))
            message["content"] = {**content, "parts": [*content.get("parts", []), *added]}

    def _take_speech(self, kind: str, event: Event) -> None:
        role = "reasoning" if kind.startswith("REASONING") else "assistant"
        message_id = str(event.get("messageId") or self._chunk_id)
        if kind.endswith("_CHUNK"):
            self._chunk_id = message_id
        message = self._message(message_id, event.get("role") or role)
        if "delta" in event:
            message["content"] = message.get("content", "") + event["delta"]

    def _take_call(self, kind: str, event: Event) -> None:
        call_id = str(event.get("toolCallId") or self._chunk_call)
        if kind == "TOOL_CALL_RESULT":
            message = self._message(event["messageId"], "tool")
            message.update(toolCallId=call_id, content=event["content"])
            return
        if kind == "TOOL_CALL_CHUNK":
            self._chunk_call = call_id
        if call_id not in self._calls and kind in ("TOOL_CALL_START", "TOOL_CALL_CHUNK"):
            self._calls[call_id] = self._new_call(call_id, event)
        if "delta" in event and call_id in self._calls:
            self._calls[call_id]["function"]["arguments"] += event["delta"]

    def _new_call(self, call_id: str, event: Event) -> dict[str, Any]:
        parent = self._message(str(event.get("parentMessageId") or call_id), "assistant")
        function = {"name": event.get("toolCallName") or "", "arguments": ""}
        call = {"id": call_id, "type": "function", "function": function}
        parent.setdefault("toolCalls", []).append(call)
        return call

    def _take_activity(self, event: Event) -> None:
        message = self._message(event["messageId"], "activity")
        message.update(activityType=event["activityType"], content=event["content"])

    def _message(self, message_id: str, role: str) -> AGUIMessage:
        for message in self.messages:
            if message["id"] == message_id:
                return message
        message: AGUIMessage = {"id": message_id, "role": role}
        self.messages.append(message)
        return message
