"""A turn as AG-UI events: plain dictionaries in wire form, absent fields left out."""

from collections.abc import Iterable, Sequence
from typing import Any

from a2a.types import Part, TaskState
from typing_extensions import override

from aion_adk.formats import media
from aion_adk.front_ends.encoder import Encoder, agui_usage
from aion_adk.front_ends.narration import Narration
from aion_adk.front_ends.turn_events import (
    ArtifactShown,
    RunCanceled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    StateChanged,
    StepStarted,
    TextContent,
    TextEnded,
    TextReplaced,
    TextStarted,
    ToolCallArguments,
    ToolCallEnded,
    ToolCallResult,
    ToolCallStarted,
    TurnEvent,
)
from aion_adk.protocol.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.protocol.structs import list_of, to_plain

AGUIEvent = dict[str, Any]
AGUIMessage = dict[str, Any]

PROTOCOL_VERSION = "1.0"
ARTIFACT = "a2a.artifact"


class AGUIEncoder(Encoder):
    """Encodes one run; whatever happens its last event is RUN_FINISHED or RUN_ERROR.

    `protocol_version` is what the client says it speaks. Without one it is older than 1.0 and
    rejects `cancelled` and `pendingToolCallIds`. `interrupts` gives pauses the interrupt
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
        super().__init__(Narration(prefix=run_id, client_tools=client_tools))
        self._run = {"threadId": thread_id, "runId": run_id}
        self._version = protocol_version
        self._interrupts = interrupts
        self._earlier_messages = list(messages)
        self._messages = _RunMessages()
        self._state = dict(state or {})
        self._state_changed = False
        self._step: str | None = None

    @override
    def _encode(self, events: Sequence[TurnEvent]) -> list[AGUIEvent]:
        encoded: list[AGUIEvent] = []
        for event in events:
            self._messages.add(event)
            encoded += self._events(event)
        return encoded

    def _events(self, event: TurnEvent) -> list[AGUIEvent]:
        match event:
            case TextContent(id, text, thought):
                kind = "REASONING_MESSAGE_CONTENT" if thought else "TEXT_MESSAGE_CONTENT"
                return [{"type": kind, "messageId": id, "delta": text}]
            case TextStarted() | TextEnded():
                return _text_boundary(event)
            case ToolCallStarted() | ToolCallArguments() | ToolCallEnded() | ToolCallResult():
                return [_tool_call_event(event)]
            case ArtifactShown():
                return [_activity_event(event)]
            case StateChanged(delta):
                self._state.update(delta)
                self._state_changed = True
                patch = [
                    {"op": "add", "path": f"/{_json_pointer(key)}", "value": value}
                    for key, value in delta.items()
                ]
                return [{"type": "STATE_DELTA", "delta": patch}]
            case RunStarted():
                version = {"protocolVersion": PROTOCOL_VERSION} if self._version else {}
                return [{"type": "RUN_STARTED", **self._run, **version}]
            case StepStarted(name):
                self._step = name
                return [{"type": "STEP_STARTED", "stepName": name}]
            case TextReplaced(ids):
                kept = [item for item in self._messages.messages if item["id"] not in ids]
                messages = [*self._earlier_messages, *kept]
                return [{"type": "MESSAGES_SNAPSHOT", "messages": messages}]
            case RunFinished() | RunPaused() | RunFailed() | RunCanceled():
                ended: list[AGUIEvent] = []
                if self._state_changed:
                    ended.append({"type": "STATE_SNAPSHOT", "snapshot": dict(self._state)})
                if self._step is not None and not isinstance(event, RunFailed):
                    ended.append({"type": "STEP_FINISHED", "stepName": self._step})
                return [*ended, self._run_end(event)]

    def _run_end(self, event: RunFinished | RunPaused | RunFailed | RunCanceled) -> AGUIEvent:
        finished = {"type": "RUN_FINISHED", **self._run}
        match event:
            case RunFinished(usage):
                return {**finished, **_canonical(CanonicalType.RUN_FINISHED), **_usage(usage)}
            case RunPaused(usage=usage):
                metadata = _canonical(CanonicalType.STEP_FINISHED)
                return {**finished, **self._pause_outcome(event), **metadata, **_usage(usage)}
            case RunFailed(text, code, usage):
                return {"type": "RUN_ERROR", "message": text, "code": code, **_usage(usage)}
            case RunCanceled() if self._version:
                return {**finished, "outcome": {"type": "cancelled"}}
            case RunCanceled():
                return {"type": "RUN_ERROR", "message": "The run was canceled.", "code": "canceled"}

    def _pause_outcome(self, paused: RunPaused) -> dict[str, Any]:
        call_ids = [call.id for call in paused.calls]
        if self._interrupts and call_ids:
            auth = paused.state == TaskState.TASK_STATE_AUTH_REQUIRED
            reason = "auth_required" if auth else "input_required"
            message = {"message": paused.text} if paused.text else {}
            interrupts = [
                {"id": call_id, "reason": reason, "toolCallId": call_id, **message}
                for call_id in call_ids
            ]
            return {"outcome": {"type": "interrupt", "interrupts": interrupts}}
        if not self._version or not call_ids:
            return {}
        return {"outcome": {"type": "success", "pendingToolCallIds": call_ids}}


class _RunMessages:
    """The messages that a client ends up with, each added when it is complete."""

    def __init__(self) -> None:
        self.messages: list[AGUIMessage] = []
        self._parents: dict[str, str] = {}

    def add(self, event: TurnEvent) -> None:
        match event:
            case TextEnded(id, text, thought):
                self._message(id, "reasoning" if thought else "assistant")["content"] = text
            case ToolCallStarted(id, _, parent_id):
                self._parents[id] = parent_id
            case ToolCallEnded(call):
                parent = self._message(self._parents.get(call.id, call.id), "assistant")
                function = {"name": call.name, "arguments": call.arguments_json}
                tool_call = {"id": call.id, "type": "function", "function": function}
                parent.setdefault("toolCalls", []).append(tool_call)
            case ToolCallResult(message_id, result):
                message = self._message(message_id, "tool")
                message.update(toolCallId=result.id, content=result.text)
            case ArtifactShown(id, name, parts, append):
                message = self._message(id, "activity")
                before = list_of(message.get("content"), "parts") if append else []
                content = {"name": name, "parts": [*before, *_activity_parts(parts)]}
                message.update(activityType=ARTIFACT, content=content)
            case _:
                pass

    def _message(self, message_id: str, role: str) -> AGUIMessage:
        for message in self.messages:
            if message["id"] == message_id:
                return message
        self.messages.append({"id": message_id, "role": role})
        return self.messages[-1]


def _text_boundary(event: TextStarted | TextEnded) -> list[AGUIEvent]:
    message = {"messageId": event.id}
    match event:
        case TextStarted(thought=True):
            return [
                {"type": "REASONING_START", **message},
                {"type": "REASONING_MESSAGE_START", **message, "role": "reasoning"},
            ]
        case TextStarted():
            return [{"type": "TEXT_MESSAGE_START", **message, "role": "assistant"}]
        case TextEnded(thought=True, signature=signature):
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
        case TextEnded():
            return [{"type": "TEXT_MESSAGE_END", **message, **_canonical(CanonicalType.TEXT_END)}]


def _tool_call_event(
    event: ToolCallStarted | ToolCallArguments | ToolCallEnded | ToolCallResult,
) -> AGUIEvent:
    match event:
        case ToolCallStarted(id, name, parent_id):
            start = {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name}
            return {**start, "parentMessageId": parent_id}
        case ToolCallArguments(id, delta):
            return {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}
        case ToolCallEnded(call):
            metadata = _canonical(CanonicalType.TOOL_CALL_START)
            return {"type": "TOOL_CALL_END", "toolCallId": call.id, **metadata}
        case ToolCallResult(message_id, result):
            answer = {"messageId": message_id, "toolCallId": result.id, "content": result.text}
            metadata = _canonical(CanonicalType.TOOL_CALL_RESULT)
            return {"type": "TOOL_CALL_RESULT", **answer, "role": "tool", **metadata}


def _activity_event(shown: ArtifactShown) -> AGUIEvent:
    parts = _activity_parts(shown.parts)
    activity = {"messageId": shown.id, "activityType": ARTIFACT}
    if shown.append:
        patch = [{"op": "add", "path": "/parts/-", "value": part} for part in parts]
        return {"type": "ACTIVITY_DELTA", **activity, "patch": patch}
    content = {"name": shown.name, "parts": parts}
    return {"type": "ACTIVITY_SNAPSHOT", **activity, "content": content, "replace": True}


def _activity_parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = []
    for part in parts:
        match part.WhichOneof("content"):
            case "data":
                shown.append({"type": "data", "data": to_plain(part.data)})
            case "raw" | "url":
                shown.append(media.to_agui_content(part))
            case _:
                shown.append({"type": "text", "text": part.text})
    return shown


def _usage(usage: dict[str, int]) -> dict[str, Any]:
    return {"usage": agui_usage(usage)} if usage else {}


def _canonical(kind: CanonicalType) -> dict[str, Any]:
    return {"metadata": {CANONICAL_TYPE: str(kind)}}


def _json_pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
