"""What a run does beside its reply, for clients that ask to see it: tools, state, thoughts."""

from typing import Any

from a2a.types import AgentExtension, Message, Part, TaskState, TaskStatus, TaskStatusUpdateEvent
from google.adk.events import Event
from google.genai import types
from google.protobuf.struct_pb2 import Struct

from aion_adk.outbound import (
    agent_message,
    data_part,
    function_call_part,
    function_response_part,
    thought_part,
)
from aion_adk.parts import ADK_ACTIONS, ADK_FINISH_REASON, ADK_USAGE, STATE_DELTA
from aion_adk.stamp import new_id
from aion_adk.stream import section_of
from aion_adk.turn import DeltaEnd, SectionKey, TextDelta, TurnOutput
from aion_adk.values import to_struct

TOOL_ACTIVITY = "https://docs.aion.to/a2a/extensions/tool-activity/v1"
"""Asks for tool calls, their results and changes of state as messages, and for token counts."""

THOUGHTS = "https://docs.aion.to/a2a/extensions/thoughts/v1"
"""Asks for what a model says it thinks, as it streams and as messages."""

ACTIVITY_EXTENSIONS = (
    AgentExtension(
        uri=TOOL_ACTIVITY,
        description="Shows tool calls, their results, changes of state and token counts.",
    ),
    AgentExtension(uri=THOUGHTS, description="Shows what the model says it thinks."),
)

# What ADK and this bridge keep in the state for themselves.
_PRIVATE_STATE = ("temp:", "a2a_", "adk_oauth_", "_")


class Activity:
    """Turns the events of one run into WORKING messages; none of them is part of the reply."""

    def __init__(self, *, tools: bool, thoughts: bool) -> None:
        self.shown = tools or thoughts
        self._tools = tools
        self._thoughts = thoughts
        self._long_running: set[str] = set()
        self._usage: dict[str, int] = {}
        self._finish_reason = ""

    def outgoing_of(self, event: Event) -> list[TurnOutput]:
        if not self.shown or event.author == "user":
            return []
        if event.partial:
            return self._thought_delta(event)
        self._count(event.usage_metadata)
        if event.finish_reason:
            self._finish_reason = event.finish_reason.value
        self._long_running |= event.long_running_tool_ids or set()
        ended: list[TurnOutput] = [DeltaEnd(_thoughts_of(event))] if self._thoughts else []
        message = self._message(event)
        return [*ended, _working(message)] if message else ended

    @property
    def account(self) -> Struct | None:
        """The tokens that the models counted, and why the last one stopped, as ADK names them."""
        told = {ADK_USAGE: self._usage, ADK_FINISH_REASON: self._finish_reason}
        known = {key: value for key, value in told.items() if value}
        return to_struct(known) if self._tools and known else None

    def _thought_delta(self, event: Event) -> list[TurnOutput]:
        parts = (event.content.parts or []) if event.content else []
        text = "".join(part.text for part in parts if part.text and part.thought)
        if not text or not self._thoughts:
            return []
        return [TextDelta(_thoughts_of(event), text, thought=True)]

    def _message(self, event: Event) -> Message | None:
        parts = (event.content.parts or []) if event.content else []
        # What is said beside a call is no reply, and no other message holds it.
        speaks = any(self._is_shown_call(item) for item in parts)
        shown = [part for item in parts if (part := self._part(item, speaks=speaks))]
        state = public_state(event.actions.state_delta) if self._tools else {}
        if state and not shown:
            shown = [data_part(state, adk_type=STATE_DELTA)]
        if not shown:
            return None
        message = agent_message(shown, message_id=new_id())
        message.metadata.update({"adk_author": event.author})
        if state:
            message.metadata.MergeFrom(to_struct({ADK_ACTIONS: {"stateDelta": state}}))
        return message

    def _part(self, part: types.Part, *, speaks: bool) -> Part | None:
        """The part if it was asked for; a pending call is the business of the pause it causes."""
        if part.text and part.thought:
            return thought_part(part) if self._thoughts else None
        if part.text:
            return Part(text=part.text) if speaks else None
        if part.function_call and self._is_shown_call(part):
            return function_call_part(part.function_call, long_running=False)
        response = part.function_response
        if response and self._tools and response.id not in self._long_running:
            return function_response_part(response)
        return None

    def _is_shown_call(self, part: types.Part) -> bool:
        call = part.function_call
        return self._tools and call is not None and call.id not in self._long_running

    def _count(self, usage: types.GenerateContentResponseUsageMetadata | None) -> None:
        counts: dict[str, Any] = usage.model_dump(exclude_none=True) if usage else {}
        for name, count in counts.items():
            if isinstance(count, int):
                self._usage[name] = self._usage.get(name, 0) + count


def public_state(delta: dict[str, Any]) -> dict[str, Any]:
    """The part of a state delta that is meant for others and that JSON can hold."""
    public: dict[str, Any] = {}
    for key, value in delta.items():
        if key.startswith(_PRIVATE_STATE):
            continue
        try:
            to_struct({key: value})
        except (TypeError, ValueError):
            continue
        public[key] = value
    return public


def _thoughts_of(event: Event) -> SectionKey:
    author, branch = section_of(event)
    return (author, f"{branch}#thought")


def _working(message: Message) -> TaskStatusUpdateEvent:
    status = TaskStatus(state=TaskState.TASK_STATE_WORKING, message=message)
    return TaskStatusUpdateEvent(status=status)
