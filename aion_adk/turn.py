"""One request in flight: its inbox, its response buffer, and what goes out in order."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

from aion_adk.client_side import ClientSide
from aion_adk.inbox import A2AInbox, AnyContext, invocation_of
from aion_adk.outbox import A2AOutbox
from aion_adk.stamp import new_id

logger = logging.getLogger(__name__)

TURN_ATTRIBUTE = "a2a_turn"

STREAMING = "aion_adk.streaming"
"""Set in the state of a call whose caller reads a stream."""

SectionKey = tuple[str, str]
"""Who is speaking: author, and branch or node."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    key: SectionKey
    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class DeltaEnd:
    key: SectionKey


Outgoing = TextDelta | DeltaEnd | TaskStatusUpdateEvent | TaskArtifactUpdateEvent


class Turn:
    """Shared by the executor, the plugin and the helpers for as long as one run lasts.

    Everything that leaves passes one queue, so its order is the order in which it was
    published, from whichever thread.
    """

    def __init__(
        self, inbox: A2AInbox, *, task: Task, deliver: Callable[[Outgoing], Awaitable[None]]
    ) -> None:
        self.inbox = inbox
        self.buffer: list[Message] = []
        self.outbox: A2AOutbox | None = None
        self.last_emitted: Message | None = None
        self.message_ids = {task.status.message.message_id, *(m.message_id for m in task.history)}
        self.client: ClientSide | None = None
        self.session_id = ""
        self.unnamed_artifacts: dict[str, str] = {}
        self.invocation_ids: set[str] = set()
        self.abort = asyncio.Event()
        self.closed = False
        self._task_id = task.id
        self._deliver = deliver
        self._waiting: deque[Outgoing] = deque()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._sending = asyncio.Lock()
        self._flusher: asyncio.Task[None] | None = None

    def own(self, message: Message) -> Message:
        """A copy with an id that no other message of the task has."""
        copy = Message()
        copy.CopyFrom(message)
        if not copy.message_id or copy.message_id in self.message_ids:
            copy.message_id = new_id()
        self.message_ids.add(copy.message_id)
        return copy

    def publish(self, item: Outgoing) -> None:
        """Queues `item` and has it sent soon; callable from any thread."""
        if threading.get_ident() != self._thread:
            self._publish_from_thread(item)
            return
        if self.closed:
            self._drop(item)
            return
        self._waiting.append(item)
        if self._flusher is None or self._flusher.done():
            self._flusher = self._loop.create_task(self._send())

    async def send(self, *items: Outgoing) -> None:
        """Sends what is queued, then `items`; returns when they are handed over."""
        if threading.get_ident() == self._thread:
            await self._send(*items)
        else:
            sent = asyncio.run_coroutine_threadsafe(self._send(*items), self._loop)
            await asyncio.wrap_future(sent)

    async def close(self) -> None:
        """Sends what is queued and takes nothing more."""
        await self._send()
        self.closed = True

    async def _send(self, *items: Outgoing) -> None:
        if self.closed:
            for item in items:
                self._drop(item)
            return
        self._waiting.extend(items)
        async with self._sending:
            while self._waiting:
                await self._deliver(self._waiting.popleft())

    def _publish_from_thread(self, item: Outgoing) -> None:
        try:
            self._loop.call_soon_threadsafe(self.publish, item)
        except RuntimeError:  # the loop is closed: the server has stopped, the thread has not
            self._drop(item)

    def _drop(self, item: Outgoing) -> None:
        logger.debug("task %s is over; dropped %s", self._task_id, type(item).__name__)


current_turn: ContextVar[Turn | None] = ContextVar("aion_adk_turn", default=None)


def turn_of(ctx: AnyContext) -> Turn | None:
    """The turn that `ctx` belongs to; None where no A2A request is being served."""
    return getattr(invocation_of(ctx), TURN_ATTRIBUTE, None)
