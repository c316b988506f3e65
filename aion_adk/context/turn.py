"""One turn of a task, as the executor, the plugin and the helpers share it."""

import asyncio
import copy
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

from a2a.types import Message, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

from aion_adk.context.client_tools import ClientSide
from aion_adk.context.inbox import A2AInbox, AnyContext, invocation_of
from aion_adk.context.outbox import A2AOutbox
from aion_adk.protocol.stamp import new_id

TURN_ATTRIBUTE = "a2a_turn"

SectionKey = tuple[str, str]
"""Whose text it is: author, and branch or node."""


@dataclass(frozen=True, slots=True)
class TextChunk:
    key: SectionKey
    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class SectionEnd:
    key: SectionKey


TurnOutput = TextChunk | SectionEnd | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


class OutgoingQueue(Protocol):
    """Everything that leaves a turn passes through it, in order, from whichever thread."""

    closed: bool
    """Whether the turn is over, so that what is published is dropped."""

    def publish(self, item: TurnOutput) -> None:
        """Queues `item` and has it sent soon; callable from any thread."""
        ...

    async def send(self, *items: TurnOutput) -> None:
        """Sends what is queued, then `items`; returns when they are handed over."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    """What the agent has been given for one message, and has written so far."""

    inbox: A2AInbox
    outgoing: OutgoingQueue
    message_ids: set[str]
    """The ids of the messages that the task has already."""
    session_id: str = ""
    client: ClientSide | None = None
    buffer: list[Message] = field(default_factory=list[Message])
    outbox: A2AOutbox | None = None
    last_emitted: Message | None = None
    unnamed_artifacts: dict[str, str] = field(default_factory=dict[str, str])
    invocation_ids: set[str] = field(default_factory=set[str])
    abort: asyncio.Event = field(default_factory=asyncio.Event)

    def with_own_id(self, message: Message) -> Message:
        """A copy with an id that no other message of the task has."""
        owned = copy.deepcopy(message)
        if not owned.message_id or owned.message_id in self.message_ids:
            owned.message_id = new_id()
        self.message_ids.add(owned.message_id)
        return owned


current_turn: ContextVar[Turn | None] = ContextVar("aion_adk_turn", default=None)


def turn_of(ctx: AnyContext) -> Turn | None:
    """The turn that `ctx` belongs to; None where no A2A request is being served."""
    return getattr(invocation_of(ctx), TURN_ATTRIBUTE, None)
