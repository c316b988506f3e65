"""A graph's state before a turn and after it."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from a2a.types import Message, Role, Task
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import Interrupt, StateSnapshot

from aion_adk.drivers.messages import parts_of
from aion_adk.outbox import OUTBOX_KEY, A2AOutbox, to_outbox
from aion_adk.stamp import new_id

MESSAGES = "messages"
INBOX = "a2a_inbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierState:
    """What the checkpointer had when the turn began."""

    message_ids: frozenset[str] = frozenset()
    interrupts: Mapping[str, Interrupt] = field(default_factory=dict[str, Interrupt])
    at_breakpoint: bool = False
    has_outbox: bool = False


def earlier_state(snapshot: StateSnapshot | None) -> EarlierState:
    if snapshot is None:
        return EarlierState()
    values = mapping_of(snapshot.values)
    return EarlierState(
        message_ids=frozenset(message.id for message in messages_in(values) if message.id),
        interrupts={interrupt.id: interrupt for interrupt in snapshot.interrupts},
        at_breakpoint=bool(snapshot.next) and not snapshot.interrupts,
        has_outbox=values.get(OUTBOX_KEY) is not None,
    )


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
    outbox = to_outbox(value)
    if outbox.message is not None:
        message = copy.deepcopy(outbox.message)
        message.message_id = message.message_id or new_id()
        return outbox.model_copy(update={"message": message})
    task = copy.deepcopy(outbox.task) or Task()
    for message in _messages_of(task):
        message.message_id = message.message_id or new_id()
    return A2AOutbox(task=task)


def agent_messages_in(outbox: A2AOutbox) -> list[Message]:
    """The agent's messages in an outbox, in order."""
    if outbox.message is not None:
        return [outbox.message]
    messages = _messages_of(outbox.task or Task())
    return [message for message in messages if message.role != Role.ROLE_USER]


def _messages_of(task: Task) -> list[Message]:
    final = [task.status.message] if task.status.HasField("message") else []
    return [*task.history, *final]
