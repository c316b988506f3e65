"""What a run does besides its reply, for clients that ask for it: tools, state, thoughts."""

from typing import Any

from a2a.types import AgentExtension, Message, Part
from google.adk.events import Event
from google.genai import types
from google.protobuf.struct_pb2 import Struct

from aion_adk.context.turn import SectionEnd, TextChunk, TurnOutput
from aion_adk.execution.outcome import section_of
from aion_adk.protocol.from_genai import (
    agent_message,
    data_part,
    function_call_part,
    function_response_part,
    genai_parts,
    thought_part,
    working_update,
)
from aion_adk.protocol.parts import (
    ACTIONS_STATE_DELTA,
    ADK_ACTIONS,
    ADK_AUTHOR,
    ADK_FINISH_REASON,
    ADK_USAGE,
    STATE_DELTA,
)
from aion_adk.protocol.structs import to_struct

TOOL_ACTIVITY = "https://docs.aion.to/a2a/extensions/tool-activity/v1"
"""Asks for tool calls, their results and changes of state as messages, and for token counts."""

THOUGHTS = "https://docs.aion.to/a2a/extensions/thoughts/v1"
"""Asks for the thoughts of models, streamed and as messages."""

ACTIVITY_EXTENSIONS = (
    AgentExtension(
        uri=TOOL_ACTIVITY,
        description="Shows tool calls, their results, changes of state and token counts.",
    ),
    AgentExtension(uri=THOUGHTS, description="Shows what the model says it thinks."),
)

# Keys of ADK's and this package's own state.
_PRIVATE_STATE = ("temp:", "a2a_", "adk_oauth_", "_")


class Activity:
    """Turns the events of one run into WORKING messages; none of them is part of the reply."""

    def __init__(self, *, tools: bool, thoughts: bool) -> None:
        self._tools = tools
        self._thoughts = thoughts
        self._long_running: set[str] = set()
        self._usage: dict[str, int] = {}
        self._finish_reason = ""

    @property
    def usage_metadata(self) -> Struct | None:
        """Under ADK's keys: the token counts of all models, and why the last one stopped."""
        known = {ADK_USAGE: self._usage, ADK_FINISH_REASON: self._finish_reason}
        known = {key: value for key, value in known.items() if value}
        return to_struct(known) if self._tools and known else None

    def on_event(self, event: Event) -> list[TurnOutput]:
        if event.author == "user":
            return []
        author, branch = section_of(event)
        section = (author, f"{branch}#thought")
        if event.partial:
            thoughts = (part.text for part in genai_parts(event.content) if part.thought)
            text = "".join(filter(None, thoughts))
            return [TextChunk(section, text, thought=True)] if text and self._thoughts else []
        usage = event.usage_metadata.model_dump(exclude_none=True) if event.usage_metadata else {}
        for name, count in usage.items():
            if isinstance(count, int):
                self._usage[name] = self._usage.get(name, 0) + count
        if event.finish_reason:
            self._finish_reason = event.finish_reason.value
        self._long_running |= event.long_running_tool_ids or set()
        outgoing: list[TurnOutput] = [SectionEnd(section)] if self._thoughts else []
        if message := self._message_of(event):
            outgoing.append(working_update(message=message))
        return outgoing

    def _message_of(self, event: Event) -> Message | None:
        parts = genai_parts(event.content)
        # Text beside a call is not part of the reply, and no other message holds it.
        with_text = any(self._is_shown_call(part) for part in parts)
        shown = [part for item in parts if (part := self._part_of(item, with_text=with_text))]
        state = public_state(event.actions.state_delta) if self._tools else {}
        if state and not shown:
            shown = [data_part(state, adk_type=STATE_DELTA)]
        if not shown:
            return None
        message = agent_message(shown)
        message.metadata.update({ADK_AUTHOR: event.author})
        if state:
            message.metadata.MergeFrom(to_struct({ADK_ACTIONS: {ACTIONS_STATE_DELTA: state}}))
        return message

    def _part_of(self, part: types.Part, *, with_text: bool) -> Part | None:
        """The part if it was asked for; a pending call is shown by the pause that it causes."""
        if part.text and part.thought:
            return thought_part(part) if self._thoughts else None
        if part.text:
            return Part(text=part.text) if with_text else None
        if part.function_call and self._is_shown_call(part):
            return function_call_part(part.function_call, long_running=False)
        response = part.function_response
        if response and self._tools and response.id not in self._long_running:
            return function_response_part(response)
        return None

    def _is_shown_call(self, part: types.Part) -> bool:
        call = part.function_call
        return self._tools and call is not None and call.id not in self._long_running


def public_state(delta: dict[str, Any]) -> dict[str, Any]:
    """The public part of a state delta, without values that JSON cannot hold."""
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
