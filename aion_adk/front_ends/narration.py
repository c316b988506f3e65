"""Turns a stream of A2A events into the events of a turn, each exactly once and in order.

Streamed text and the final message that repeats it become one message here, so that the encoders
only have to write each event in their protocol.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace

from a2a.server.events import Event
from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import Struct

from aion_adk.formats.tools import ToolCall, tool_calls_of, tool_results_of
from aion_adk.front_ends import turn_events as turn
from aion_adk.front_ends.speech import SpeechTracker, message_text, thought_signature, thought_text
from aion_adk.front_ends.turn_events import TurnEvent
from aion_adk.protocol.canonical import CanonicalType, canonical_type_of
from aion_adk.protocol.parts import (
    ACTIONS_STATE_DELTA,
    ADK_ACTIONS,
    ADK_AUTHOR,
    ADK_FINISH_REASON,
    ADK_USAGE,
    FUNCTION_CALL,
    FUNCTION_RESPONSE,
    STATE_DELTA,
    TOOL_CALLS,
    TOOL_RESULTS,
    adk_type_of,
    is_prompt,
    is_thought_delta,
    is_transitory,
)
from aion_adk.protocol.structs import object_of, to_dict
from aion_adk.protocol.task_state import PAUSED_STATES, RUNNING_STATES

# Data parts that become events of their own.
_OWN_EVENTS = (FUNCTION_CALL, FUNCTION_RESPONSE, STATE_DELTA)


class Narration:
    """The state of one turn. Exactly one of its events is a `RunEnd`, the last."""

    def __init__(self, *, prefix: str, client_tools: Sequence[str] = ()) -> None:
        self._over = False
        self._client_tools = frozenset(client_tools)
        self._texts = SpeechTracker(prefix=prefix)
        self._seen_messages: set[str] = set()
        self._seen_artifacts: set[str] = set()
        self._open_calls: dict[str, ToolCall] = {}
        self._ended_calls: set[str] = set()
        self._in_step = False
        self._started = False

    def on_event(self, event: Event) -> list[TurnEvent]:
        if self._over:
            return []
        if isinstance(event, TaskArtifactUpdateEvent):
            return self._artifact_events(event)
        events: list[TurnEvent] = [] if self._started else [turn.RunStarted()]
        self._started = True
        match event:
            case Task():
                events += self._task_events(event)
            case Message():
                events += [*self._message_events(event), *self._end(turn.RunFinished())]
            case TaskStatusUpdateEvent():
                events += self._status_events(event.status, event.metadata)
        return events

    def fail(self, text: str, code: str) -> list[TurnEvent]:
        """Ends a turn that broke outside its task; nothing if it is over already."""
        return [] if self._over else self._end(turn.RunFailed(text, code))

    def _task_events(self, task: Task) -> list[TurnEvent]:
        events: list[TurnEvent] = []
        for message in messages_of_turn(task):
            if message.message_id != task.status.message.message_id:
                events += self._message_events(message)
        if task.status.state != TaskState.TASK_STATE_WORKING:
            for artifact in task.artifacts:
                if artifact.artifact_id not in self._seen_artifacts:
                    events.append(self._artifact_event(artifact))
        return events + self._status_events(task.status, task.metadata)

    def _status_events(self, status: TaskStatus, metadata: Struct) -> list[TurnEvent]:
        message = status.message if status.HasField("message") else None
        if status.state in RUNNING_STATES:
            step: list[TurnEvent] = []
            if not self._in_step:
                self._in_step = True
                author = to_dict(status.message.metadata).get(ADK_AUTHOR)
                step = [turn.StepStarted(str(author or "working"))]
            return [*step, *(self._message_events(message) if message else [])]
        fields = to_dict(metadata)
        counts = object_of(fields, ADK_USAGE).items()
        usage = {name: count for name, count in counts if isinstance(count, int)}
        if status.state in PAUSED_STATES:
            return self._pause_events(status, usage)
        match status.state:
            case TaskState.TASK_STATE_COMPLETED:
                reply = self._message_events(message, last=True) if message else []
                truncated = fields.get(ADK_FINISH_REASON) == "MAX_TOKENS"
                return [*reply, *self._end(turn.RunFinished(usage, truncated))]
            case TaskState.TASK_STATE_CANCELED:
                return self._end(turn.RunCanceled())
            case state:
                code = "rejected" if state == TaskState.TASK_STATE_REJECTED else "failed"
                text = message_text(message) if message else ""
                return self._end(turn.RunFailed(text or "The task failed.", code, usage))

    def _pause_events(self, status: TaskStatus, usage: dict[str, int]) -> list[TurnEvent]:
        message = status.message
        calls = [call for call in tool_calls_of(message) if call.long_running]
        if calls and self._client_tools.issuperset(call.name for call in calls):
            # The client's own tools answer these calls: no person has to be prompted.
            message = copy.deepcopy(message)
            del message.parts[:]
            message.parts.extend(part for part in status.message.parts if not is_prompt(part))
        events = self._message_events(message, last=True) if message.parts else []
        paused = turn.RunPaused(status.state, message_text(message), calls, usage)
        return [*events, *self._end(paused)]

    def _artifact_events(self, event: TaskArtifactUpdateEvent) -> list[TurnEvent]:
        artifact_id = event.artifact.artifact_id
        if not is_transitory(artifact_id):
            return [self._artifact_event(event.artifact, append=event.append)]
        events: list[TurnEvent] = []
        thought = is_thought_delta(artifact_id)
        for part in event.artifact.parts:
            events += self._texts.add_delta(artifact_id, part.text, thought=thought)
        if event.last_chunk:
            self._texts.end_source(artifact_id)
        return events

    def _artifact_event(self, artifact: Artifact, *, append: bool = False) -> turn.ArtifactUpdated:
        self._seen_artifacts.add(artifact.artifact_id)
        return turn.ArtifactUpdated(
            artifact.artifact_id, artifact.name, list(artifact.parts), append
        )

    def _message_events(self, message: Message, *, last: bool = False) -> list[TurnEvent]:
        """The parts of a message, without those that were sent or streamed before."""
        message_id = message.message_id
        if message_id in self._seen_messages:
            return []
        kind = canonical_type_of(message)
        if kind == CanonicalType.TEXT_CHUNK:
            return self._texts.add_delta(message_id, message_text(message))
        final = kind != CanonicalType.TOOL_CALL_ARGS
        if final:
            self._seen_messages.add(message_id)
        events: list[TurnEvent] = []
        if thought := thought_text(message):
            signature = thought_signature(message)
            events += self._texts.add_message(
                f"{message_id}:thought", thought, thought=True, signature=signature
            )
        parent_id = message_id
        if text := message_text(message):
            events += self._texts.add_message(message_id, text, last=last)
            parent_id = self._texts.last_id
        for call in tool_calls_of(message):
            if call.id not in self._ended_calls:
                events += self._texts.end_all()
                events += self._call_events(call, parent_id, final=final)
        for result in tool_results_of(message):
            # Some models number their calls anew in each request.
            self._ended_calls.discard(result.id)
            events += self._texts.end_all()
            events.append(turn.ToolCallResult(f"{message_id}:{result.id}", result))
        if other := [part for part in message.parts if _is_file_or_data(part)]:
            events.append(turn.ArtifactUpdated(f"{message_id}:parts", "", other))
        if ADK_ACTIONS in message.metadata.fields:
            actions = to_dict(message.metadata)[ADK_ACTIONS]
            if state := object_of(actions, ACTIONS_STATE_DELTA):
                events.append(turn.StateChanged(state))
        return events

    def _call_events(self, call: ToolCall, parent_id: str, *, final: bool) -> list[TurnEvent]:
        """Starts the call once, and adds the arguments that have not streamed yet."""
        events: list[TurnEvent] = []
        if call.id not in self._open_calls:
            self._open_calls[call.id] = replace(call, arguments="")
            events.append(turn.ToolCallStarted(call.id, call.name, parent_id, call.long_running))
        streamed = self._open_calls[call.id].arguments_json
        if final:
            complete = call.arguments_json
            new = complete[len(streamed) :] if complete.startswith(streamed) else ""
            self._open_calls[call.id] = call
        else:
            new = call.arguments if isinstance(call.arguments, str) else ""
            self._open_calls[call.id] = replace(call, arguments=streamed + new)
        if new:
            events.append(turn.ToolCallArguments(call.id, new))
        return [*events, *self._end_calls([call.id])] if final else events

    def _end_calls(self, call_ids: Sequence[str]) -> list[TurnEvent]:
        self._ended_calls.update(call_ids)
        return [turn.ToolCallEnded(self._open_calls.pop(call_id)) for call_id in call_ids]

    def _end(self, last: turn.RunEnd) -> list[TurnEvent]:
        self._over = True
        return [*self._texts.end_all(), *self._end_calls(list(self._open_calls)), last]


def messages_of_turn(task: Task) -> list[Message]:
    """The agent's messages since the user's last one."""
    messages: list[Message] = []
    for message in reversed(task.history):
        if message.role == Role.ROLE_USER:
            break
        messages.append(message)
    return messages[::-1]


def _is_file_or_data(part: Part) -> bool:
    match part.WhichOneof("content"):
        case "raw" | "url":
            return True
        case "data":
            keys = set(part.data.struct_value.fields)
            return adk_type_of(part) not in _OWN_EVENTS and not keys & {TOOL_CALLS, TOOL_RESULTS}
        case _:
            return False
