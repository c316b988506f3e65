"""The mapping document's own dictionaries: A2A to AG-UI shaped events, and those to OpenAI shapes.

They are plain data for storage and tests. What the real protocols accept on the wire is made by
the encoders beside this module.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from a2a.types import Message, Part, Role, Task, TaskState, TaskStatusUpdateEvent

from aion_adk.formats import media
from aion_adk.formats.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.formats.compaction import compact_events
from aion_adk.formats.tools import (
    ToolCall,
    ToolResult,
    as_text,
    calls_in,
    results_in,
)
from aion_adk.parts import ADK_ACTIONS, ADK_THOUGHT
from aion_adk.values import object_of, to_dict, to_plain

__all__ = [
    "compact_events",
    "convert_a2a_history_to_openai_chat",
    "convert_a2a_message_to_agui_event",
    "convert_a2a_task_event_to_agui_event",
    "convert_agui_event_to_openai_chat",
    "convert_agui_event_to_openai_responses",
]

SeedEvent = dict[str, Any]

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
    """The event that a message stands for, from the message alone."""
    plain = _plain_message(message) if isinstance(message, Message) else message
    parts: list[dict[str, Any]] = list(plain.get("parts") or [])
    metadata: dict[str, Any] = plain.get("metadata") or {}
    declared = metadata.get(CANONICAL_TYPE)
    text = "".join(part["text"] for part in parts if part.get("text") and not _is_thought(part))
    if results := _each(parts, results_in):
        return {"type": "tool-call-result", **_results(results)}
    if calls := _each(parts, calls_in):
        kind = "args" if declared == CanonicalType.TOOL_CALL_ARGS else "start"
        said = {"content": text} if text else {}
        return {"type": f"tool-call-{kind}", **said, **_calls(calls)}
    if plain.get("role") in ("user", "ROLE_USER"):
        return _text_event("text-message-content", "user", _user_content(parts, text))
    if state := object_of(metadata.get(ADK_ACTIONS)).get("stateDelta"):
        return {"type": "state-delta", "delta": state}
    return _agent_event(parts, text, chunk=declared == CanonicalType.TEXT_CHUNK)


def convert_a2a_task_event_to_agui_event(
    event: Task | TaskStatusUpdateEvent | Mapping[str, Any],
) -> SeedEvent:
    """A task starts a run; a status is what its state says."""
    match event:
        case Task():
            plain = _run(event.id, event.context_id, _state_name(event.status.state))
            return {"type": "run-started", **plain}
        case TaskStatusUpdateEvent():
            state = _state_name(event.status.state)
            plain = _run(event.task_id, event.context_id, state)
            return {"type": _TYPE_OF_STATE.get(state, "step-started"), **plain}
        case _:
            return _task_event_of_dict(event)


def convert_agui_event_to_openai_chat(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a chat history for one event; none for what is still under way."""
    match event.get("type"):
        case "text-message-content":
            message = event["message"]
            content = media.content_to_chat(message["content"])
            return [{"role": message["role"], "content": content}]
        case "text-message-end" if event["message"]["content"]:
            return [{"role": "assistant", "content": event["message"]["content"]}]
        case "tool-call-start":
            return [_chat_calls(event, content=event.get("content") or "")]
        case "tool-call-result":
            return [_chat_result(result) for result in results_of(event)]
        case _:
            return []


def convert_agui_event_to_openai_responses(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    match event.get("type"):
        case "text-message-content" | "text-message-chunk":
            return [_responses("message.delta", event["message"])]
        case "text-message-end":
            return [_responses("message.done", event["message"])]
        case "tool-call-args" | "tool-call-start":
            said = {"content": event["content"]} if event.get("content") else {}
            message = _chat_calls(event, content="")
            return [_responses("message.delta", {**message, **said} if said else _bare(message))]
        case "tool-call-result":
            results = results_of(event)
            return [_responses("message.delta", _chat_result(result)) for result in results]
        case kind if kind in _RESPONSES_NAME:
            data = {key: value for key, value in event.items() if key != "type"}
            return [_responses(_RESPONSES_NAME[kind], data)]
        case _:
            return []


def convert_a2a_history_to_openai_chat(
    history: Iterable[Message | Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Map to events, reduce what was streamed, map to chat messages."""
    events = compact_events([convert_a2a_message_to_agui_event(message) for message in history])
    return [message for event in events for message in convert_agui_event_to_openai_chat(event)]


def calls_of(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of an event that has one (`toolCall`) or several (`toolCalls`)."""
    return list(event["toolCalls"]) if "toolCalls" in event else [event["toolCall"]]


def results_of(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "results" in event:
        return list(event["results"])
    return [{"toolCallId": event["toolCallId"], "result": event.get("result")}]


def _plain_message(message: Message) -> dict[str, Any]:
    return {
        "role": "user" if message.role == Role.ROLE_USER else "agent",
        "parts": [_plain_part(part) for part in message.parts],
        "metadata": to_dict(message.metadata),
    }


def _plain_part(part: Part) -> dict[str, Any]:
    metadata = {"metadata": to_dict(part.metadata)} if part.metadata.fields else {}
    match part.WhichOneof("content"):
        case "text":
            return {"kind": "text", "text": part.text, **metadata}
        case "data":
            return {"kind": "data", "data": to_plain(part.data), **metadata}
        case _:
            return {"kind": "file", "file": media.to_agui_content(part), **metadata}


def _is_thought(part: Mapping[str, Any]) -> bool:
    return object_of(part.get("metadata")).get(ADK_THOUGHT) is True


def _each(parts: list[dict[str, Any]], read: Any) -> list[Any]:
    return [found for part in parts for found in read(part.get("data"), part.get("metadata") or {})]


def _agent_event(parts: list[dict[str, Any]], text: str, *, chunk: bool) -> SeedEvent:
    thoughts = "".join(part["text"] for part in parts if part.get("text") and _is_thought(part))
    if text or not parts:
        kind = "text-message-chunk" if chunk else "text-message-end"
        return _text_event(kind, "assistant", text)
    if thoughts:
        return _text_event("reasoning-message-content", "reasoning", thoughts)
    shown = [part.get("file") or part.get("data") for part in parts]
    content = {"parts": shown}
    return {"type": "activity-snapshot", "activityType": "a2a.artifact", "content": content}


def _user_content(parts: list[dict[str, Any]], text: str) -> str | list[Any]:
    files = [part["file"] for part in parts if part.get("file")]
    if not files:
        return text or "".join(as_text(part["data"]) for part in parts if "data" in part)
    return [{"type": "text", "text": text}, *files] if text else files


def _text_event(kind: str, role: str, content: str | list[Any]) -> SeedEvent:
    return {"type": kind, "message": {"role": role, "content": content}}


def _calls(calls: list[ToolCall]) -> dict[str, Any]:
    plain = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
    return {"toolCall": plain[0]} if len(plain) == 1 else {"toolCalls": plain}


def _results(results: list[ToolResult]) -> dict[str, Any]:
    plain = [{"toolCallId": result.id, "result": result.output} for result in results]
    return plain[0] if len(plain) == 1 else {"results": plain}


def _task_event_of_dict(event: Mapping[str, Any]) -> SeedEvent:
    status = object_of(event.get("status"))
    state = str(status.get("state") or "submitted")
    task_id = event.get("id") or event.get("taskId") or event.get("task_id") or ""
    context_id = event.get("contextId") or event.get("context_id") or ""
    started = "id" in event
    kind = "run-started" if started else _TYPE_OF_STATE.get(state, "step-started")
    return {"type": kind, **_run(task_id, context_id, state)}


def _run(task_id: str, context_id: str, state: str) -> dict[str, Any]:
    return {"runId": task_id, "threadId": context_id, "state": state}


def _state_name(state: TaskState) -> str:
    return TaskState.Name(state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def _chat_calls(event: Mapping[str, Any], *, content: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [_chat_call(call) for call in calls_of(event)],
    }


def _chat_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    text = (
        arguments
        if isinstance(arguments, str)
        else json.dumps(arguments or {}, ensure_ascii=False, sort_keys=True)
    )
    function = {"name": call.get("name") or "", "arguments": text}
    return {"id": call["id"], "type": "function", "function": function}


def _chat_result(result: Mapping[str, Any]) -> dict[str, Any]:
    content = as_text(result.get("result"))
    return {"role": "tool", "tool_call_id": result["toolCallId"], "content": content}


def _bare(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "content"}


def _responses(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"event": name, "data": dict(data)}
