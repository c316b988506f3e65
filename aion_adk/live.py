"""A task while it runs: what its events make of it, and who reads along."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable

from a2a.server.agent_execution import RequestContext
from a2a.server.cluster import ConcurrentTaskModificationError
from a2a.server.events import Event
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a.utils.errors import A2AError, InternalError

from aion_adk.audience import Answer, Audience
from aion_adk.inflight import TextInFlight
from aion_adk.record import TaskRecord
from aion_adk.snapshot import (
    SETTLED_STATES,
    TERMINAL_STATES,
    TaskEvent,
    add_to_history,
    copy_of,
    settled_state_of,
    updated,
)
from aion_adk.stamp import Stamp, new_id, without_protected
from aion_adk.subscription import Subscription

logger = logging.getLogger(__name__)

Notify = Callable[[TaskEvent], None]


class LiveTask(ABC):
    """Applies each event, saves what is durable, and passes it on.

    Terminal is final: whatever comes after it is dropped. Text in flight goes to the readers and
    is kept only until its section ends, for readers that join late. `first` and `settled` hold
    what a caller that does not stream is answered with.
    """

    def __init__(
        self,
        context: RequestContext,
        record: TaskRecord,
        *,
        notify: Notify,
        final_task: bool = False,
    ) -> None:
        self.context = context
        self.task: Task | None = None
        self._audience = Audience()
        self._record = record
        self._notify = notify
        self._final_task = final_task
        self._text = TextInFlight()
        self._applying = asyncio.Lock()
        self._announced = False
        self._over = False

    @property
    def task_id(self) -> str:
        return self.context.task_id or ""

    @property
    def first(self) -> asyncio.Future[Answer]:
        return self._audience.first

    @property
    def settled(self) -> asyncio.Future[Answer]:
        return self._audience.settled

    @property
    def over(self) -> bool:
        """Whether it takes no further event."""
        return self._over

    @property
    def outcome(self) -> Message | str | None:
        """What the message led to: a bare answer, the id of its task, or nothing."""
        if not self.first.done() or self.first.exception():
            return None
        answer = self.first.result()
        return answer if isinstance(answer, Message) else self.task_id

    async def load(self) -> Task | None:
        return await self._record.load()

    def resume(self, task: Task) -> None:
        """Goes on with a stored task: the inbound message joins its history."""
        self.task = copy_of(task)
        status = self.task.status
        if status.HasField("message"):
            add_to_history(self.task, status.message)
        if self.context.message is not None:
            add_to_history(self.task, without_protected(self.context.message))

    async def announce(self) -> None:
        """The task as the server makes it, for a caller that cannot wait for the executor's."""
        async with self._applying:
            if self.task is None and not self._over:
                self._announced = True
                await self._apply_now(self._stamp.new_task(self.context.message or Message()))

    def keep_text(self, artifact_id: str, text: str) -> bool:
        """Keeps a chunk for readers that join late; False if there are some, or it is the first."""
        return not self._audience.reads and self._text.add(artifact_id, text)

    def join(self, reader: Subscription) -> None:
        """Shows `reader` everything from here on."""
        self._audience.add(reader)

    async def events(self) -> AsyncGenerator[Event, None]:
        """The current task, the text still in flight, then everything that follows."""
        reader = Subscription()
        # An event that is being saved is in the task already but not yet with the readers.
        async with self._applying:
            self._catch_up(reader)
            self._audience.add(reader)
        try:
            async for event in reader.events():
                yield event
        finally:
            self._audience.remove(reader)

    @property
    def _stamp(self) -> Stamp:
        return Stamp(task_id=self.task_id, context_id=self.context.context_id or "")

    def _catch_up(self, reader: Subscription) -> None:
        if not self.first.done() or self.first.exception():
            return
        answer = self.first.result()
        reader.push(copy_of(self.task) if self.task is not None else answer)
        for update in self._text.so_far():
            reader.push(update)
        if self._over and not self.settled.exception():
            reader.close()

    async def _apply(self, event: TaskEvent) -> None:
        async with self._applying:
            if not self._over:
                await self._apply_now(event)

    async def _apply_now(self, event: TaskEvent) -> None:
        task = updated(self.task, event)
        if settled_state_of(event) is not None:
            for update in self._text.close():
                self._audience.show(update)
        unfinished = isinstance(event, TaskArtifactUpdateEvent) and not event.last_chunk
        if unfinished or await self._saved(task):
            self.task = task
            self._hand_on(event, task)

    async def _saved(self, task: Task) -> bool:
        try:
            await self._record.save(task)
        except ConcurrentTaskModificationError:
            await self._yield_to_other_writer()
            return False
        except Exception:
            error_id = new_id()
            logger.exception("task %s not saved, error id %s", self.task_id, error_id)
            self._audience.settle(
                InternalError(f"The task could not be saved. Error id: {error_id}")
            )
            self._end()
            self._lose()
            return False
        return True

    async def _yield_to_other_writer(self) -> None:
        """Somebody else changed the task: what is stored counts, and this run is over."""
        logger.warning("task %s was changed by another writer; its run ends", self.task_id)
        stored = await self._record.load()
        if stored and stored.status.state in SETTLED_STATES:
            self.task = stored
            self._audience.show(
                TaskStatusUpdateEvent(
                    task_id=stored.id, context_id=stored.context_id, status=stored.status
                )
            )
            self._audience.settle(copy_of(stored))
        else:
            self._audience.settle(InternalError("The task was changed by another writer."))
        self._end()
        self._lose()

    def _hand_on(self, event: TaskEvent, task: Task) -> None:
        state = settled_state_of(event)
        repeats = self._announced and isinstance(event, Task) and self.first.done()
        whole = not self.first.done() or (self._final_task and state in TERMINAL_STATES)
        if not self.first.done():
            self.first.set_result(copy_of(task))
        self._notify(event)
        if repeats:
            self._announced = False
        if not repeats or state is not None:
            self._audience.show(copy_of(task) if whole else event)
        if state is not None:
            self._audience.settle(copy_of(task))
        if state in TERMINAL_STATES:
            self._end()

    def _end(self) -> None:
        """Takes no further event."""
        self._over = True
        self._audience.dismiss()

    @abstractmethod
    def _lose(self) -> None:
        """The task is no longer this process's to change: whatever works on it may stop."""

    def _refuse(self, error: A2AError) -> None:
        """Answers with the error itself, where there is no task that could tell of it."""
        self._audience.settle(error)
        self._end()

    def _answer(self, message: Message) -> None:
        """Answers with a bare message, where there is no task."""
        self._audience.show(message)
        self._audience.settle(message)
        self._end()

    async def _pass_text(self, event: TaskArtifactUpdateEvent) -> None:
        self._text.take(event)
        self._audience.show(event)
        await self._audience.take_it()
