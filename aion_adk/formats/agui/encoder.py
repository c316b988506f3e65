"""A turn as AG-UI events: plain dictionaries in wire form, absent fields left out."""

from collections.abc import Iterable, Sequence
from typing import Any

from a2a.types import Part, TaskState
from typing_extensions import override

from aion_adk.formats import media
from aion_adk.formats.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.formats.encoder import Encoder
from aion_adk.formats.narration import Narrator
from aion_adk.formats.said import (
    Answered,
    CallArguments,
    CallEnded,
    CallStarted,
    Canceled,
    Corrected,
    Failed,
    Finished,
    Paused,
    Said,
    Shown,
    SpeechDelta,
    SpeechEnded,
    SpeechStarted,
    Started,
    StateChanged,
    StepStarted,
)
from aion_adk.formats.tools import ToolCall
from aion_adk.formats.usage import agui_usage
from aion_adk.values import list_of, to_plain

AGUIEvent = dict[str, Any]
AGUIMessage = dict[str, Any]

PROTOCOL_VERSION = "1.0"
ARTIFACT = "a2a.artifact"


class AGUIEncoder(Encoder):
    """Encodes one run; whatever happens its last event is RUN_FINISHED or RUN_ERROR.

    `protocol_version` is what the client said it speaks. Without one it is older than 1.0 and
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
        messages: Sequence[dict[str, Any]] = (),
        state: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(Narrator(prefix=run_id, client_tools=client_tools))
        self._run = {"threadId": thread_id, "runId": run_id}
        self._version = protocol_version
        self._interrupts = interrupts
        self._messages = list(messages)
        self._state = dict(state or {})
        self._state_changed = False
        self._step: str | None = None
        self._record = Record()

    @override
    def _tell(self, said: list[Said]) -> list[AGUIEvent]:
        events: list[AGUIEvent] = []
        for item in said:
            self._record.hear(item)
            events += self._events(item)
        return events

    def _events(self, said: Said) -> list[AGUIEvent]:
        match said:
            case SpeechDelta(id, text, thought):
                kind = "REASONING_MESSAGE_CONTENT" if thought else "TEXT_MESSAGE_CONTENT"
                return [{"type": kind, "messageId": id, "delta": text}]
            case SpeechStarted():
                return _speech_started(said)
            case SpeechEnded():
                return _speech_ended(said)
            case CallStarted() | CallArguments() | CallEnded() | Answered():
                return _call_events(said)
            case Shown():
                return [_shown(said)]
            case StateChanged(delta):
                return self._state_delta(delta)
            case Started():
                version = {"protocolVersion": PROTOCOL_VERSION} if self._version else {}
                return [{"type": "RUN_STARTED", **self._run, **version}]
            case StepStarted(name):
                self._step = name
                return [{"type": "STEP_STARTED", "stepName": name}]
            case Corrected():
                return [self._snapshot(said)]
            case Finished() | Paused() | Failed() | Canceled():
                return [*self._before_end(said), self._end(said)]

    def _state_delta(self, delta: dict[str, Any]) -> list[AGUIEvent]:
        self._state.update(delta)
        self._state_changed = True
        patch = [
            {"op": "add", "path": f"/{_escaped(key)}", "value": value}
            for key, value in delta.items()
        ]
        return [{"type": "STATE_DELTA", "delta": patch}]

    def _before_end(self, said: Said) -> list[AGUIEvent]:
        events: list[AGUIEvent] = []
        if self._state_changed:
            events.append({"type": "STATE_SNAPSHOT", "snapshot": dict(self._state)})
        if self._step is not None and not isinstance(said, Failed):
            events.append({"type": "STEP_FINISHED", "stepName": self._step})
        return events

    def _end(self, said: Finished | Paused | Failed | Canceled) -> AGUIEvent:
        finished = {"type": "RUN_FINISHED", **self._run}
        match said:
            case Finished(usage):
                return {**finished, **_canonical(CanonicalType.RUN_FINISHED), **_usage(usage)}
            case Paused(usage=usage):
                outcome = self._pause_outcome(said)
                metadata = _canonical(CanonicalType.STEP_FINISHED)
                return {**finished, **outcome, **metadata, **_usage(usage)}
            case Failed(text, code, usage):
                return {"type": "RUN_ERROR", "message": text, "code": code, **_usage(usage)}
            case Canceled() if self._version:
                return {**finished, "outcome": {"type": "cancelled"}}
            case Canceled():
                return {"type": "RUN_ERROR", "message": "The run was canceled.", "code": "canceled"}

    def _pause_outcome(self, paused: Paused) -> dict[str, Any]:
        if self._interrupts and paused.calls:
            interrupts = [_interrupt(call, paused) for call in paused.calls]
            return {"outcome": {"type": "interrupt", "interrupts": interrupts}}
        if not self._version or not paused.calls:
            return {}
        pending = [call.id for call in paused.calls]
        return {"outcome": {"type": "success", "pendingToolCallIds": pending}}

    def _snapshot(self, corrected: Corrected) -> AGUIEvent:
        """The record without the text that streamed and was then replaced."""
        unsaid = set(corrected.unsaid)
        kept = [message for message in self._record.messages if message["id"] not in unsaid]
        return {"type": "MESSAGES_SNAPSHOT", "messages": [*self._messages, *kept]}


def _speech_started(said: SpeechStarted) -> list[AGUIEvent]:
    if not said.thought:
        return [{"type": "TEXT_MESSAGE_START", "messageId": said.id, "role": "assistant"}]
    return [
        {"type": "REASONING_START", "messageId": said.id},
        {"type": "REASONING_MESSAGE_START", "messageId": said.id, "role": "reasoning"},
    ]


def _speech_ended(said: SpeechEnded) -> list[AGUIEvent]:
    if not said.thought:
        metadata = _canonical(CanonicalType.TEXT_END)
        return [{"type": "TEXT_MESSAGE_END", "messageId": said.id, **metadata}]
    events: list[AGUIEvent] = [{"type": "REASONING_MESSAGE_END", "messageId": said.id}]
    if said.signature:
        encrypted = {"subtype": "message", "entityId": said.id, "encryptedValue": said.signature}
        events.append({"type": "REASONING_ENCRYPTED_VALUE", **encrypted})
    return [*events, {"type": "REASONING_END", "messageId": said.id}]


def _call_events(said: CallStarted | CallArguments | CallEnded | Answered) -> list[AGUIEvent]:
    match said:
        case CallStarted(id, name, parent_id):
            start = {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name}
            return [{**start, "parentMessageId": parent_id}]
        case CallArguments(id, delta):
            return [{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}]
        case CallEnded(call):
            metadata = _canonical(CanonicalType.TOOL_CALL_START)
            return [{"type": "TOOL_CALL_END", "toolCallId": call.id, **metadata}]
        case Answered(message_id, result):
            answer = {"messageId": message_id, "toolCallId": result.id, "content": result.text}
            metadata = _canonical(CanonicalType.TOOL_CALL_RESULT)
            return [{"type": "TOOL_CALL_RESULT", **answer, "role": "tool", **metadata}]


def _shown(shown: Shown) -> AGUIEvent:
    parts = shown_content(shown.parts)
    activity = {"messageId": shown.id, "activityType": ARTIFACT}
    if shown.append:
        patch = [{"op": "add", "path": "/parts/-", "value": part} for part in parts]
        return {"type": "ACTIVITY_DELTA", **activity, "patch": patch}
    content = {"name": shown.name, "parts": parts}
    return {"type": "ACTIVITY_SNAPSHOT", **activity, "content": content, "replace": True}


def _interrupt(call: ToolCall, paused: Paused) -> dict[str, Any]:
    auth = paused.state == TaskState.TASK_STATE_AUTH_REQUIRED
    interrupt = {
        "id": call.id,
        "reason": "auth_required" if auth else "input_required",
        "toolCallId": call.id,
    }
    return {**interrupt, "message": paused.text} if paused.text else interrupt


def _usage(usage: dict[str, int]) -> dict[str, Any]:
    return {"usage": agui_usage(usage)} if usage else {}


def _canonical(kind: CanonicalType) -> dict[str, Any]:
    return {"metadata": {CANONICAL_TYPE: str(kind)}}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


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


def shown_content(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [_shown_part(part) for part in parts]


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
