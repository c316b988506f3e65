"""A stream of A2A events told once, in order, in terms that every front end can spell.

Text that streamed and the message that later repeats it are one thing here; each encoder
only writes down what it is told.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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

from aion_adk.formats.canonical import CanonicalType, canonical_type_of
from aion_adk.formats.said import (
    Answered,
    CallArguments,
    CallEnded,
    CallStarted,
    Canceled,
    Failed,
    Finished,
    Paused,
    Said,
    Shown,
    Started,
    StateChanged,
    StepStarted,
)
from aion_adk.formats.tools import ToolCall, tool_calls_of, tool_results_of
from aion_adk.formats.voices import Voices, speech_of, thought_of
from aion_adk.parts import (
    ADK_ACTIONS,
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
from aion_adk.snapshot import PAUSED_STATES
from aion_adk.values import object_of, to_dict

A2AEvent = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


INCOMPLETE = "The stream ended before the task did."

_TOLD = (FUNCTION_CALL, FUNCTION_RESPONSE, STATE_DELTA)
_CUT = "MAX_TOKENS"


class Narrator:
    """Tells one turn; exactly one of Finished, Paused, Failed and Canceled is the last."""

    def __init__(self, *, prefix: str, client_tools: Sequence[str] = ()) -> None:
        self.over = False
        self._client_tools = frozenset(client_tools)
        self._voices = Voices(prefix=prefix)
        self._told: set[str] = set()
        self._shown: set[str] = set()
        self._open_calls: dict[str, ToolCall] = {}
        self._ended_calls: set[str] = set()
        self._stepping = False
        self._started = False

    def hear(self, event: A2AEvent) -> list[Said]:
        if self.over:
            return []
        match event:
            case Task():
                return self._hear_task(event)
            case Message():
                start = self._start(event.task_id, event.context_id)
                return [*start, *self._tell(event), *self._end(Finished())]
            case TaskStatusUpdateEvent():
                start = self._start(event.task_id, event.context_id)
                return [*start, *self._hear_status(event.status, event.metadata)]
            case TaskArtifactUpdateEvent():
                return self._hear_artifact(event)

    def fail(self, text: str, code: str) -> list[Said]:
        """The end of a turn that broke outside its task."""
        return [] if self.over else self._end(Failed(text, code))

    def silence(self) -> list[Said]:
        """What is left to say when no more events come."""
        return self.fail(INCOMPLETE, "stream_incomplete")

    def _start(self, task_id: str, context_id: str) -> list[Said]:
        if self._started:
            return []
        self._started = True
        return [Started(task_id, context_id)]

    def _hear_task(self, task: Task) -> list[Said]:
        said = self._start(task.id, task.context_id)
        for message in messages_of_turn(task):
            if message.message_id != task.status.message.message_id:
                said += self._tell(message)
        settled = task.status.state != TaskState.TASK_STATE_WORKING
        if settled:
            for artifact in task.artifacts:
                if artifact.artifact_id not in self._shown:
                    said += self._show(artifact, append=False)
        return said + self._hear_status(task.status, task.metadata)

    def _hear_status(self, status: TaskStatus, metadata: Struct) -> list[Said]:
        usage = _usage_of(metadata)
        message = status.message if status.HasField("message") else None
        match status.state:
            case TaskState.TASK_STATE_SUBMITTED | TaskState.TASK_STATE_WORKING:
                told = self._tell(message) if message else []
                return [*self._step(status), *told]
            case TaskState.TASK_STATE_COMPLETED:
                told = self._tell(message, last=True) if message else []
                return [*told, *self._end(Finished(usage, _was_cut(metadata)))]
            case state if state in PAUSED_STATES:
                return self._pause(status, usage)
            case TaskState.TASK_STATE_CANCELED:
                return self._end(Canceled())
            case state:
                code = "rejected" if state == TaskState.TASK_STATE_REJECTED else "failed"
                text = speech_of(message) if message else ""
                return self._end(Failed(text or "The task failed.", code, usage))

    def _pause(self, status: TaskStatus, usage: dict[str, int]) -> list[Said]:
        message = status.message
        calls = [call for call in tool_calls_of(message) if call.long_running]
        if calls and self._client_tools.issuperset(call.name for call in calls):
            # A program answers these: the words that ask a person for it are nobody's.
            message = without_prompt(message)
        told = self._tell(message, last=True) if message.parts else []
        return [*told, *self._end(Paused(status.state, speech_of(message), calls, usage))]

    def _hear_artifact(self, event: TaskArtifactUpdateEvent) -> list[Said]:
        artifact = event.artifact
        if not is_transitory(artifact.artifact_id):
            return self._show(artifact, append=event.append)
        lane = artifact.artifact_id
        said: list[Said] = []
        for part in artifact.parts:
            if part.text:
                said += self._voices.speak(lane, part.text, thought=is_thought_delta(lane))
        if event.last_chunk:
            said += self._voices.pause(lane)
        return said

    def _show(self, artifact: Artifact, *, append: bool) -> list[Said]:
        self._shown.add(artifact.artifact_id)
        return [Shown(artifact.artifact_id, artifact.name, list(artifact.parts), append)]

    def _step(self, status: TaskStatus) -> list[Said]:
        if self._stepping:
            return []
        self._stepping = True
        author = to_dict(status.message.metadata).get("adk_author")
        return [StepStarted(str(author or "working"))]

    def _tell(self, message: Message, *, last: bool = False) -> list[Said]:
        """A durable message: each of its parts once, text that streamed not again."""
        if message.message_id in self._told:
            return []
        kind = canonical_type_of(message)
        if kind == CanonicalType.TEXT_CHUNK:
            return self._voices.speak(message.message_id, speech_of(message))
        if kind != CanonicalType.TOOL_CALL_ARGS:
            self._told.add(message.message_id)
        said: list[Said] = []
        if thought := thought_of(message):
            thought_id = f"{message.message_id}:thought"
            said += self._voices.settle(thought_id, thought, message=message, thought=True)
        parent_id = message.message_id
        if text := speech_of(message):
            spoken = self._voices.settle(message.message_id, text, message=message, last=last)
            said += spoken
            parent_id = self._voices.last_id
        said += self._tell_calls(message, parent_id, final=kind != CanonicalType.TOOL_CALL_ARGS)
        for result in tool_results_of(message):
            # Some models number their calls anew each time they are asked.
            self._ended_calls.discard(result.id)
            said += [*self._voices.end_all(), Answered(f"{message.message_id}:{result.id}", result)]
        rest = [part for part in message.parts if _is_shown(part)]
        if rest:
            said.append(Shown(f"{message.message_id}:parts", "", rest))
        if state := _state_of(message):
            said.append(StateChanged(state))
        return said

    def _tell_calls(self, message: Message, parent_id: str, *, final: bool) -> list[Said]:
        said: list[Said] = []
        for call in tool_calls_of(message):
            if call.id not in self._ended_calls:
                said += [*self._voices.end_all(), *self._tell_call(call, parent_id, final=final)]
        return said

    def _tell_call(self, call: ToolCall, parent_id: str, *, final: bool) -> list[Said]:
        said: list[Said] = []
        if call.id not in self._open_calls:
            self._open_calls[call.id] = replace(call, arguments="")
            said.append(CallStarted(call.id, call.name, parent_id, call.long_running))
        streamed = self._open_calls[call.id].arguments_json
        if final:
            whole = call.arguments_json
            new = whole.removeprefix(streamed) if whole.startswith(streamed) else ""
            self._open_calls[call.id] = call
        else:
            new = call.arguments if isinstance(call.arguments, str) else ""
            self._open_calls[call.id] = replace(call, arguments=streamed + new)
        if new:
            said.append(CallArguments(call.id, new))
        return [*said, *self._end_calls([call.id])] if final else said

    def _end_calls(self, call_ids: Sequence[str]) -> list[Said]:
        self._ended_calls.update(call_ids)
        ended = [self._open_calls.pop(call_id) for call_id in call_ids]
        return [CallEnded(call, call.long_running) for call in ended]

    def _end(self, last: Finished | Paused | Failed | Canceled) -> list[Said]:
        self.over = True
        return [*self._voices.end_all(), *self._end_calls(list(self._open_calls)), last]


def without_prompt(message: Message) -> Message:
    """The message without the words that the bridge added to a pending call."""
    kept = Message()
    kept.CopyFrom(message)
    del kept.parts[:]
    kept.parts.extend(part for part in message.parts if not is_prompt(part))
    return kept


def messages_of_turn(task: Task) -> list[Message]:
    """What the agent said since the caller last spoke."""
    said: list[Message] = []
    for message in reversed(task.history):
        if message.role == Role.ROLE_USER:
            break
        said.append(message)
    return said[::-1]


def _is_shown(part: Part) -> bool:
    match part.WhichOneof("content"):
        case "raw" | "url":
            return True
        case "data":
            listed = set(part.data.struct_value.fields)
            return adk_type_of(part) not in _TOLD and not listed & {TOOL_CALLS, TOOL_RESULTS}
        case _:
            return False


def _state_of(message: Message) -> dict[str, Any]:
    if ADK_ACTIONS not in message.metadata.fields:
        return {}
    actions = object_of(to_dict(message.metadata)[ADK_ACTIONS])
    return dict(object_of(actions.get("stateDelta")))


def _usage_of(metadata: Struct) -> dict[str, int]:
    if ADK_USAGE not in metadata.fields:
        return {}
    counted = object_of(to_dict(metadata)[ADK_USAGE])
    return {name: count for name, count in counted.items() if isinstance(count, int)}


def _was_cut(metadata: Struct) -> bool:
    fields = metadata.fields
    return ADK_FINISH_REASON in fields and fields[ADK_FINISH_REASON].string_value == _CUT
