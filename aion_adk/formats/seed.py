"""The mapping document's dictionaries: A2A as events like AG-UI's, and those as OpenAI messages.

They are plain data for storage and tests. What the protocols accept on the wire is made by the
encoders of the front ends.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from a2a.types import Message, Role, Task, TaskStatusUpdateEvent

from aion_adk.formats import media
from aion_adk.formats.compaction import SeedEvent, calls_in_event, compact_events, results_in_event
from aion_adk.formats.tools import as_text, tool_calls_in, tool_results_in
from aion_adk.protocol.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.protocol.parts import ACTIONS_STATE_DELTA, ADK_ACTIONS, ADK_THOUGHT
from aion_adk.protocol.structs import object_of, to_dict, to_plain
from aion_adk.protocol.task_state import state_name, task_id_of

__all__ = [
    "compact_events",
    "convert_a2a_history_to_openai_chat",
    "convert_a2a_message_to_agui_event",
    "convert_a2a_task_event_to_agui_event",
    "convert_agui_event_to_openai_chat",
    "convert_agui_event_to_openai_responses",
]

_TYPE_OF_STATE = {
    "created": "run-started",
    "submitted": "run-started",
    "working": "step-started",
    "input-required": "step-finished",
    "auth-required": "step-finished",
    "completed": "run-finished",
    "failed": "run-error",
    "rejected": "run-error",
    "canceled": "run-error",
}

_RESPONSES_NAME = {
    "run-started": "run.started",
    "step-started": "run.step.started",
    "step-finished": "run.step.done",
    "run-finished": "run.done",
    "run-error": "run.error",
}


def convert_a2a_message_to_agui_event(message: Message | Mapping[str, Any]) -> SeedEvent:
    """The event that corresponds to a message."""
    plain = _plain_message(message) if isinstance(message, Message) else message
    parts: list[dict[str, Any]] = list(plain.get("parts") or [])
    data = [(part.get("data"), object_of(part.get("metadata"))) for part in parts]
    metadata: dict[str, Any] = plain.get("metadata") or {}
    declared = metadata.get(CANONICAL_TYPE)
    text = "".join(part["text"] for part in parts if part.get("text") and not _is_thought(part))
    if results := [result for item in data for result in tool_results_in(*item)]:
        listed = [{"toolCallId": result.id, "result": result.output} for result in results]
        fields = listed[0] if len(listed) == 1 else {"results": listed}
        return {"type": "tool-call-result", **fields}
    if calls := [call for item in data for call in tool_calls_in(*item)]:
        kind = "args" if declared == CanonicalType.TOOL_CALL_ARGS else "start"
        content = {"content": text} if text else {}
        listed = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
        fields = {"toolCall": listed[0]} if len(listed) == 1 else {"toolCalls": listed}
        return {"type": f"tool-call-{kind}", **content, **fields}
    if plain.get("role") in ("user", "ROLE_USER"):
        return _text_event("text-message-content", "user", _user_content(parts, text))
    if state := object_of(metadata.get(ADK_ACTIONS)).get(ACTIONS_STATE_DELTA):
        return {"type": "state-delta", "delta": state}
    return _agent_event(parts, text, chunk=declared == CanonicalType.TEXT_CHUNK)


def convert_a2a_task_event_to_agui_event(
    event: Task | TaskStatusUpdateEvent | Mapping[str, Any],
) -> SeedEvent:
    """A task starts a run; the event of a status follows from its state."""
    if isinstance(event, Task | TaskStatusUpdateEvent):
        is_task = isinstance(event, Task)
        task_id = task_id_of(event)
        context_id = event.context_id
        state = state_name(event.status.state).lower().replace("_", "-")
    else:
        is_task = "id" in event
        task_id = event.get("id") or event.get("taskId") or event.get("task_id") or ""
        context_id = event.get("contextId") or event.get("context_id") or ""
        state = str(object_of(event, "status").get("state") or "submitted")
    kind = "run-started" if is_task else _TYPE_OF_STATE.get(state, "step-started")
    return {"type": kind, "runId": task_id, "threadId": context_id, "state": state}


def convert_agui_event_to_openai_chat(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a chat history for one event; none for an event that only streams."""
    match event.get("type"):
        case "text-message-content":
            content = media.content_to_chat(event["message"]["content"])
            return [{"role": event["message"]["role"], "content": content}]
        case "text-message-end" if event["message"]["content"]:
            return [{"role": "assistant", "content": event["message"]["content"]}]
        case "tool-call-start":
            message = {"role": "assistant", "content": event.get("content") or ""}
            return [{**message, "tool_calls": _chat_calls(event)}]
        case "tool-call-result":
            return [_chat_result(result) for result in results_in_event(event)]
        case _:
            return []


def convert_agui_event_to_openai_responses(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The mapping document's response events for one event."""
    match event.get("type"):
        case "text-message-content" | "text-message-chunk":
            return [_responses("message.delta", event["message"])]
        case "text-message-end":
            return [_responses("message.done", event["message"])]
        case "tool-call-args" | "tool-call-start":
            content = {"content": event["content"]} if event.get("content") else {}
            message = {"role": "assistant", **content, "tool_calls": _chat_calls(event)}
            return [_responses("message.delta", message)]
        case "tool-call-result":
            results = results_in_event(event)
            return [_responses("message.delta", _chat_result(result)) for result in results]
        case kind if kind in _RESPONSES_NAME:
            data = {key: value for key, value in event.items() if key != "type"}
            return [_responses(_RESPONSES_NAME[kind], data)]
        case _:
            return []


def convert_a2a_history_to_openai_chat(
    history: Iterable[Message | Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The chat messages of a history, its streamed messages reduced to final ones."""
    events = compact_events([convert_a2a_message_to_agui_event(message) for message in history])
    return [message for event in events for message in convert_agui_event_to_openai_chat(event)]


def _plain_message(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for part in message.parts:
        metadata = {"metadata": to_dict(part.metadata)} if part.metadata.fields else {}
        match part.WhichOneof("content"):
            case "text":
                parts.append({"kind": "text", "text": part.text, **metadata})
            case "data":
                parts.append({"kind": "data", "data": to_plain(part.data), **metadata})
            case _:
                parts.append({"kind": "file", "file": media.to_agui_content(part), **metadata})
    role = "user" if message.role == Role.ROLE_USER else "agent"
    return {"role": role, "parts": parts, "metadata": to_dict(message.metadata)}


def _is_thought(part: Mapping[str, Any]) -> bool:
    return object_of(part.get("metadata")).get(ADK_THOUGHT) is True


def _agent_event(parts: list[dict[str, Any]], text: str, *, chunk: bool) -> SeedEvent:
    thoughts = "".join(part["text"] for part in parts if part.get("text") and _is_thought(part))
    if text or not parts:
        kind = "text-message-chunk" if chunk else "text-message-end"
        return _text_event(kind, "assistant", text)
    if thoughts:
        return _text_event("reasoning-message-content", "reasoning", thoughts)
    content = {"parts": [part.get("file") or part.get("data") for part in parts]}
    return {"type": "activity-snapshot", "activityType": "a2a.artifact", "content": content}


def _user_content(parts: list[dict[str, Any]], text: str) -> str | list[Any]:
    files = [part["file"] for part in parts if part.get("file")]
    if not files:
        return text or "".join(as_text(part["data"]) for part in parts if "data" in part)
    return [{"type": "text", "text": text}, *files] if text else files


def _text_event(kind: str, role: str, content: str | list[Any]) -> SeedEvent:
    return {"type": kind, "message": {"role": role, "content": content}}


def _chat_calls(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    for call in calls_in_event(event):
        arguments = call.get("arguments")
        text = arguments if isinstance(arguments, str) else as_text(arguments or {})
        function = {"name": call.get("name") or "", "arguments": text}
        calls.append({"id": call["id"], "type": "function", "function": function})
    return calls


def _chat_result(result: Mapping[str, Any]) -> dict[str, Any]:
    content = as_text(result.get("result"))
    return {"role": "tool", "tool_call_id": result["toolCallId"], "content": content}


def _responses(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"event": name, "data": dict(data)}
