"""AG-UI events as the messages that a client ends up with."""

from collections.abc import Iterable, Mapping
from typing import Any

AGUIMessage = dict[str, Any]


def fold(events: Iterable[Mapping[str, Any]]) -> list[AGUIMessage]:
    """The messages, in the order in which they began; calls go with their parent."""
    messages: list[AGUIMessage] = []
    calls: dict[str, dict[str, Any]] = {}

    def message_of(message_id: str, role: str) -> AGUIMessage:
        for message in messages:
            if message["id"] == message_id:
                return message
        messages.append({"id": message_id, "role": role})
        return messages[-1]

    for event in events:
        match event["type"]:
            case "TEXT_MESSAGE_START" | "REASONING_MESSAGE_START":
                message_of(event["messageId"], event["role"])
            case "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT":
                message = message_of(event["messageId"], "assistant")
                message["content"] = message.get("content", "") + event["delta"]
            case "TOOL_CALL_START":
                call_id = event["toolCallId"]
                function = {"name": event["toolCallName"], "arguments": ""}
                if call_id not in calls:
                    calls[call_id] = {"id": call_id, "type": "function", "function": function}
                    parent = message_of(event.get("parentMessageId") or call_id, "assistant")
                    parent.setdefault("toolCalls", []).append(calls[call_id])
            case "TOOL_CALL_ARGS":
                calls[event["toolCallId"]]["function"]["arguments"] += event["delta"]
            case "TOOL_CALL_RESULT":
                message = message_of(event["messageId"], "tool")
                message.update(toolCallId=event["toolCallId"], content=event["content"])
            case "MESSAGES_SNAPSHOT":
                messages = [dict(message) for message in event["messages"]]
            case "ACTIVITY_SNAPSHOT":
                message = message_of(event["messageId"], "activity")
                message.update(activityType=event["activityType"], content=event["content"])
            case "ACTIVITY_DELTA":
                content = message_of(event["messageId"], "activity")["content"]
                content["parts"] = [*content["parts"], *(item["value"] for item in event["patch"])]
            case _:
                pass
    return messages
