"""A turn as AG-UI events: plain dictionaries in wire form, absent fields left out."""

from collections.abc import Sequence
from typing import Any

from a2a.types import Part, TaskState
from typing_extensions import override

from aion_adk.formats import media
from aion_adk.front_ends import turn_events as turn
from aion_adk.front_ends.encoder import Encoder, token_counts
from aion_adk.protocol.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.protocol.structs import list_of, to_plain

AGUIEvent = dict[str, Any]
AGUIMessage = dict[str, Any]

PROTOCOL_VERSION = "1.0"
ARTIFACT = "a2a.artifact"


class AGUIEncoder(Encoder):
    """Encodes one run; its last event is always RUN_FINISHED or RUN_ERROR.

    `protocol_version` is the one that the client declares. Without it the client is older than
    1.0 and rejects `cancelled` and `pendingToolCallIds`. `interrupts` gives pauses the interrupt
    outcome, which obliges the client to answer with `resume`.
    """

    def __init__(
        self,
        *,
        thread_id: str,
        run_id: str,
        protocol_version: str | None = None,
        interrupts: bool = False,
        client_tools: Sequence[str] = (),
        messages: Sequence[AGUIMessage] = (),
        state: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(prefix=run_id, client_tools=client_tools)
        self._run = {"threadId": thread_id, "runId": run_id}
        self._version = protocol_version
        self._interrupts = interrupts
        self._earlier_messages = list(messages)
        self._messages = _RunMessages()
        self._state = dict(state or {})
        self._state_changed = False
        self._step: str | None = None

    @override
    def _items(self, event: turn.TurnEvent) -> list[AGUIEvent]:
        self._messages.add(event)
        match event:
            case turn.TextContent(id, text, thought):
                kind = "REASONING_MESSAGE_CONTENT" if thought else "TEXT_MESSAGE_CONTENT"
                return [{"type": kind, "messageId": id, "delta": text}]
            case turn.TextStarted() | turn.TextEnded():
                return _text_boundary(event)
            case turn.ArtifactUpdated():
                return [_activity_event(event)]
            case turn.StateChanged(delta):
                self._state.update(delta)
                self._state_changed = True
                patch = [
                    {"op": "add", "path": f"/{_json_pointer(key)}", "value": value}
                    for key, value in delta.items()
                ]
                return [{"type": "STATE_DELTA", "delta": patch}]
            case turn.RunStarted():
                version = {"protocolVersion": PROTOCOL_VERSION} if self._version else {}
                return [{"type": "RUN_STARTED", **self._run, **version}]
            case turn.StepStarted(name):
                self._step = name
                return [{"type": "STEP_STARTED", "stepName": name}]
            case turn.TextReplaced(ids):
                kept = [item for item in self._messages.messages if item["id"] not in ids]
                messages = [*self._earlier_messages, *kept]
                return [{"type": "MESSAGES_SNAPSHOT", "messages": messages}]
            case turn.RunFinished() | turn.RunPaused() | turn.RunFailed() | turn.RunCanceled():
                ended: list[AGUIEvent] = []
                if self._state_changed:
                    ended.append({"type": "STATE_SNAPSHOT", "snapshot": dict(self._state)})
                if self._step is not None and not isinstance(event, turn.RunFailed):
                    ended.append({"type": "STEP_FINISHED", "stepName": self._step})
                return [*ended, self._run_end(event)]
            case _:
                return [_tool_call_event(event)]

    def _run_end(self, event: turn.RunEnd) -> AGUIEvent:
        finished = {"type": "RUN_FINISHED", **self._run}
        match event:
            case turn.RunFinished(usage):
                return {**finished, **_canonical(CanonicalType.RUN_FINISHED), **_usage(usage)}
            case turn.RunPaused(usage=usage):
                metadata = _canonical(CanonicalType.STEP_FINISHED)
                return {**finished, **self._pause_outcome(event), **metadata, **_usage(usage)}
            case turn.RunFailed(text, code, usage):
                return {"type": "RUN_ERROR", "message": text, "code": code, **_usage(usage)}
            case turn.RunCanceled() if self._version:
                return {**finished, "outcome": {"type": "cancelled"}}
            case turn.RunCanceled(text, code):
                return {"type": "RUN_ERROR", "message": text, "code": code}

    def _pause_outcome(self, paused: turn.RunPaused) -> dict[str, Any]:
        call_ids = [call.id for call in paused.calls]
        if not call_ids:
            return {}
        if self._interrupts:
            auth = paused.state == TaskState.TASK_STATE_AUTH_REQUIRED
            reason = "auth_required" if auth else "input_required"
            message = {"message": paused.text} if paused.text else {}
            interrupts = [
                {"id": call_id, "reason": reason, "toolCallId": call_id, **message}
                for call_id in call_ids
            ]
            return {"outcome": {"type": "interrupt", "interrupts": interrupts}}
        outcome = {"type": "success", "pendingToolCallIds": call_ids}
        return {"outcome": outcome} if self._version else {}


class _RunMessages:
    """The messages that a client ends up with, each added when it is complete."""

    def __init__(self) -> None:
        self.messages: list[AGUIMessage] = []
        self._parents: dict[str, str] = {}

    def add(self, event: turn.TurnEvent) -> None:
        match event:
            case turn.TextEnded(id, text, thought):
                self._message(id, "reasoning" if thought else "assistant")["content"] = text
            case turn.ToolCallStarted(id, _, parent_id):
                self._parents[id] = parent_id
            case turn.ToolCallEnded(call):
                parent = self._message(self._parents.get(call.id, call.id), "assistant")
                function = {"name": call.name, "arguments": call.arguments_json}
                tool_call = {"id": call.id, "type": "function", "function": function}
                parent.setdefault("toolCalls", []).append(tool_call)
            case turn.ToolCallResult(message_id, result):
                message = self._message(message_id, "tool")
                message.update(toolCallId=result.id, content=result.text)
            case turn.ArtifactUpdated(id, name, parts, append):
                message = self._message(id, "activity")
                before = list_of(message.get("content"), "parts") if append else []
                content = {"name": name, "parts": [*before, *map(_activity_part, parts)]}
                message.update(activityType=ARTIFACT, content=content)
            case _:
                pass

    def _message(self, message_id: str, role: str) -> AGUIMessage:
        for message in self.messages:
            if message["id"] == message_id:
                return message
        self.messages.append({"id": message_id, "role": role})
        return self.messages[-1]


def _text_boundary(event: turn.TextStarted | turn.TextEnded) -> list[AGUIEvent]:
    message = {"messageId": event.id}
    match event:
        case turn.TextStarted(thought=True):
            return [
                {"type": "REASONING_START", **message},
                {"type": "REASONING_MESSAGE_START", **message, "role": "reasoning"},
            ]
        case turn.TextStarted():
            return [{"type": "TEXT_MESSAGE_START", **message, "role": "assistant"}]
        case turn.TextEnded(thought=True, signature=signature):
            encrypted = {
                "type": "REASONING_ENCRYPTED_VALUE",
                "subtype": "message",
                "entityId": event.id,
                "encryptedValue": signature,
            }
            return [
                {"type": "REASONING_MESSAGE_END", **message},
                *([encrypted] if signature else []),
                {"type": "REASONING_END", **message},
            ]
        case turn.TextEnded():
            return [{"type": "TEXT_MESSAGE_END", **message, **_canonical(CanonicalType.TEXT_END)}]


def _tool_call_event(event: turn.ToolCallEvent) -> AGUIEvent:
    match event:
        case turn.ToolCallStarted(id, name, parent_id):
            start = {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name}
            return {**start, "parentMessageId": parent_id}
        case turn.ToolCallArguments(id, delta):
            return {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}
        case turn.ToolCallEnded(call):
            metadata = _canonical(CanonicalType.TOOL_CALL_START)
            return {"type": "TOOL_CALL_END", "toolCallId": call.id, **metadata}
        case turn.ToolCallResult(message_id, result):
            message = {"messageId": message_id, "toolCallId": result.id, "content": result.text}
            metadata = _canonical(CanonicalType.TOOL_CALL_RESULT)
            return {"type": "TOOL_CALL_RESULT", **message, "role": "tool", **metadata}


def _activity_event(artifact: turn.ArtifactUpdated) -> AGUIEvent:
    parts = [_activity_part(part) for part in artifact.parts]
    activity = {"messageId": artifact.id, "activityType": ARTIFACT}
    if artifact.append:
        patch = [{"op": "add", "path": "/parts/-", "value": part} for part in parts]
        return {"type": "ACTIVITY_DELTA", **activity, "patch": patch}
    content = {"name": artifact.name, "parts": parts}
    return {"type": "ACTIVITY_SNAPSHOT", **activity, "content": content, "replace": True}


def _activity_part(part: Part) -> dict[str, Any]:
    match part.WhichOneof("content"):
        case "data":
            return {"type": "data", "data": to_plain(part.data)}
        case "raw" | "url":
            return media.to_agui_content(part)
        case _:
            return {"type": "text", "text": part.text}


def _usage(usage: dict[str, int]) -> dict[str, Any]:
    if not usage:
        return {}
    tokens = token_counts(usage)
    counts = {
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "totalTokens": tokens.total,
    }
    details = {"reasoningTokens": tokens.thoughts, "cachedInputTokens": tokens.cached}
    return {"usage": [counts | {name: count for name, count in details.items() if count}]}


def _canonical(kind: CanonicalType) -> dict[str, Any]:
    return {"metadata": {CANONICAL_TYPE: str(kind)}}


def _json_pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
