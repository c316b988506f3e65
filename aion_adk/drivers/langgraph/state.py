"""A graph's state before and after a turn, its interrupts, and the answers to them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from a2a.types import Message, Role, Task
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.flows.llm_flows.functions import REQUEST_INPUT_FUNCTION_CALL_NAME
from google.genai import types
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import Interrupt, StateSnapshot
from pydantic_core import to_jsonable_python

from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox, to_outbox
from aion_adk.drivers.answer import agent_event
from aion_adk.drivers.langchain_messages import parts_of
from aion_adk.protocol.from_genai import genai_parts
from aion_adk.protocol.stamp import new_id
from aion_adk.protocol.structs import unwrapped

MESSAGES = "messages"
INBOX = "a2a_inbox"


class EarlierState:
    """What the checkpointer had when the turn began; nothing without a checkpointer."""

    def __init__(self, snapshot: StateSnapshot | None) -> None:
        values = mapping_of(snapshot.values if snapshot else None)
        interrupts = snapshot.interrupts if snapshot else ()
        self.message_ids = frozenset(message.id for message in messages_in(values) if message.id)
        self.interrupt_ids = frozenset(interrupt.id for interrupt in interrupts)
        self.at_breakpoint = bool(snapshot and snapshot.next and not interrupts)
        self.has_outbox = values.get(OUTBOX_KEY) is not None


def mapping_of(values: Any) -> Mapping[str, Any]:
    """A state as a mapping; a graph of the functional API may end with any value."""
    return cast(Mapping[str, Any], values) if isinstance(values, Mapping) else {}


def messages_in(values: Mapping[str, Any]) -> list[BaseMessage]:
    listed = values.get(MESSAGES)
    items = cast(Iterable[Any], listed) if isinstance(listed, list | tuple) else [listed]
    return [item for item in items if isinstance(item, BaseMessage)]


def last_answer(values: Mapping[str, Any], *, known: frozenset[str]) -> AIMessage | None:
    """The last message of this turn that is an answer with content."""
    for message in reversed(messages_in(values)):
        if message.id in known:
            return None
        if isinstance(message, AIMessage) and parts_of(message):
            return message
    return None


def outbox_in(values: Mapping[str, Any]) -> A2AOutbox | None:
    """The outbox with an id on each of its messages, so that state and task share the ids."""
    value = values.get(OUTBOX_KEY)
    if value is None:
        return None
    outbox = to_outbox(value).model_copy(deep=True)
    for message in _messages_of(outbox):
        message.message_id = message.message_id or new_id()
    return outbox


def agent_messages_in(outbox: A2AOutbox) -> list[Message]:
    """The agent's messages in an outbox, in order."""
    return [
        message
        for message in _messages_of(outbox)
        if message is outbox.message or message.role != Role.ROLE_USER
    ]


def _messages_of(outbox: A2AOutbox) -> list[Message]:
    if outbox.message is not None:
        return [outbox.message]
    task = outbox.task or Task()
    final = [task.status.message] if task.status.HasField("message") else []
    return [*task.history, *final]


BREAKPOINT = "breakpoint"
"""The id of a pause set by `interrupt_before` or `interrupt_after` when the graph was compiled."""

_PROMPT_KEYS = ("message", "question", "prompt")


def pause_event(ctx: InvocationContext, interrupts: Sequence[Interrupt]) -> Event:
    """One long-running call per interrupt."""
    calls: list[types.FunctionCall] = []
    for interrupt in interrupts:
        args: dict[str, Any] = {"message": _prompt(interrupt.value)}
        if not isinstance(interrupt.value, str):
            args["payload"] = to_jsonable_python(interrupt.value, fallback=str)
        if isinstance(interrupt.response_schema, dict):
            args["response_schema"] = interrupt.response_schema
        # A node that interrupts twice does so under one id, and a call is answered once.
        call_id = f"{interrupt.id}:{new_id()}"
        name = REQUEST_INPUT_FUNCTION_CALL_NAME
        calls.append(types.FunctionCall(id=call_id, name=name, args=args))
    event = agent_event(ctx, [types.Part(function_call=call) for call in calls])
    event.long_running_tool_ids = {call.id for call in calls if call.id}
    return event


def answers_in(ctx: InvocationContext) -> dict[str, Any]:
    """Answers by the id of the interrupt they are for."""
    responses = [part.function_response for part in genai_parts(ctx.user_content)]
    return {
        response.id.partition(":")[0]: unwrapped(response.response or {})
        for response in responses
        if response and response.name == REQUEST_INPUT_FUNCTION_CALL_NAME and response.id
    }


def _prompt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        given = cast(Mapping[str, Any], value)
        for key in _PROMPT_KEYS:
            if isinstance(prompt := given.get(key), str):
                return prompt
    return json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False)
