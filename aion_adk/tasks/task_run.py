"""A task while it is worked on, and the run of an executor that works on it."""

import asyncio
import copy
import logging

from a2a.server.agent_execution import RequestContext
from a2a.server.cluster import ConcurrentTaskModificationError
from a2a.server.events import Event, EventQueue
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from aion_adk.errors import log_failure
from aion_adk.protocol.from_genai import text_message
from aion_adk.protocol.parts import is_transitory
from aion_adk.protocol.stamp import Stamp, join_history
from aion_adk.protocol.task_state import (
    SETTLED_STATES,
    TERMINAL_STATES,
    TaskEvent,
    add_to_history,
    settled_state_of,
    updated,
)
from aion_adk.tasks.push import PushDelivery
from aion_adk.tasks.readers import Reader, Readers
from aion_adk.tasks.record import TaskRecord
from aion_adk.timeouts import SECONDS_TO_END_RUN as SECONDS_TO_STOP

logger = logging.getLogger(__name__)

Answer = Task | Message

# asyncio keeps only weak references to tasks; one that ignores its cancellation stays here.
_given_up: set[asyncio.Task[None]] = set()


class LiveTask:
    """Applies each event to the task, saves what is durable, and shows it to the readers.

    Terminal is final: whatever comes after it is dropped. `first` is the answer for callers that
    do not wait for the end, `settled` the answer for all others.
    """

    def __init__(
        self,
        record: TaskRecord,
        stamp: Stamp,
        *,
        push: PushDelivery | None = None,
        final_task: bool = False,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.record = record
        self.stamp = stamp
        self.task: Task | None = None
        self.announced = False
        self.over = False
        self.first: asyncio.Future[Answer] = loop.create_future()
        self.settled: asyncio.Future[Answer] = loop.create_future()
        self.readers = Readers()
        self._push = push
        self._final_task = final_task
        self._applying = asyncio.Lock()

    @property
    def result(self) -> Message | str | None:
        """What the message led to: a bare answer, the id of its task, or nothing."""
        if not self.first.done() or self.first.exception():
            return None
        answer = self.first.result()
        return answer if isinstance(answer, Message) else self.stamp.task_id

    def resume(self, task: Task, message: Message | None) -> None:
        """Goes on with a stored task: the inbound message joins its history."""
        self.task = copy.deepcopy(task)
        if self.task.status.HasField("message"):
            add_to_history(self.task, self.task.status.message)
        if message is not None:
            join_history(self.task, message)

    async def announce(self, message: Message) -> bool:
        """Makes the task and shows it, unless there is one; False if it could not be saved."""
        async with self._applying:
            if self.task is not None or self.over:
                return True
            self.announced = True
            return await self._apply(self.stamp.new_task(message))

    async def apply(self, event: TaskEvent) -> bool:
        """Changes the task; False if it is no longer this process's to change."""
        async with self._applying:
            return self.over or await self._apply(event)

    async def add_reader(self, reader: Reader) -> None:
        """Shows the current task, the text still in flight, then everything that follows."""
        # An event that is being saved is in the task already but not yet with the readers.
        async with self._applying:
            if not self.first.done():
                self.readers.add(reader)
                return
            if error := self.first.exception():
                reader.close(error if isinstance(error, Exception) else None)
                return
            reader.push(copy.deepcopy(self.task) if self.task is not None else self.first.result())
            self.readers.add(reader)
            if self.settled.done() and (error := self.settled.exception()):
                reader.close(error if isinstance(error, Exception) else None)
            elif self.over:
                reader.close()

    def answer(self, result: Answer | Exception) -> None:
        """Answers every caller so far; the readers have seen their last event."""
        for future in (self.first, self.settled):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
                future.exception()  # a caller may be gone; its exception is not unhandled then
            else:
                future.set_result(result)
        self.readers.close(result if isinstance(result, Exception) else None)

    def end(self) -> None:
        """Takes no further event."""
        self.over = True
        self.readers.close()

    async def _apply(self, event: TaskEvent) -> bool:
        state = settled_state_of(event)
        task = updated(self.task, event)
        if state is not None:
            self.readers.end_texts()
        unfinished = isinstance(event, TaskArtifactUpdateEvent) and not event.last_chunk
        if not unfinished and not await self._save(task):
            return False
        self.task = task
        repeats = self.announced and isinstance(event, Task) and self.first.done()
        whole = not self.first.done() or (self._final_task and state in TERMINAL_STATES)
        if not self.first.done():
            self.first.set_result(copy.deepcopy(task))
        if self._push:
            self._push.send(self.stamp.task_id, event)
        if repeats:
            self.announced = False
        if not repeats or state is not None:
            self.readers.show(copy.deepcopy(task) if whole else event)
        if state is not None:
            self.answer(copy.deepcopy(task))
        self.over = self.over or state in TERMINAL_STATES
        return True

    async def _save(self, task: Task) -> bool:
        try:
            await self.record.save(task)
        except ConcurrentTaskModificationError:
            await self._adopt_stored()
            return False
        except Exception as error:
            error_id = log_failure(logger, f"task {self.stamp.task_id} not saved", error)
            self.answer(InternalError(f"The task could not be saved. Error id: {error_id}"))
            self.end()
            return False
        return True

    async def _adopt_stored(self) -> None:
        """Somebody else changed the task: what is stored counts, and this run is over."""
        logger.warning("task %s was changed by another writer; its run ends", self.stamp.task_id)
        stored = await self.record.load()
        if stored and stored.status.state in SETTLED_STATES:
            self.task = stored
            self.readers.show(
                TaskStatusUpdateEvent(
                    task_id=stored.id, context_id=stored.context_id, status=stored.status
                )
            )
            self.answer(copy.deepcopy(stored))
        else:
            self.answer(InternalError("The task was changed by another writer."))
        self.end()


class TaskRun(EventQueue):
    """The queue that an executor publishes to, with no queue in it, and how its run ends.

    Once the run is told to stop, only the end it is stopped with counts. `released` is done when
    the next turn of the context may start.
    """

    def __init__(self, context: RequestContext, live: LiveTask, *, streaming: bool = False) -> None:
        self.context = context
        self.live = live
        self.task_id = live.stamp.task_id
        self.stamp = live.stamp
        self.streaming = streaming
        self.released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._worker: asyncio.Task[None] | None = None
        self._ending: TaskState | None = None

    @property
    def task(self) -> Task | None:
        return self.live.task

    def work(self, worker: asyncio.Task[None]) -> None:
        """Takes the asyncio task that runs the executor."""
        self._worker = worker
        worker.add_done_callback(lambda _: self._release())

    async def announce(self) -> None:
        """Makes and shows the task, at work on the inbound message, unless there is one."""
        if self.task is None and not await self.live.announce(self.context.message or Message()):
            self._lose()

    async def enqueue_event(self, event: Event) -> None:
        if self.live.over:
            logger.debug("task %s is over; dropped %s", self.task_id, type(event).__name__)
        elif isinstance(event, Message):
            await self._answer_directly(event)
        elif isinstance(event, TaskArtifactUpdateEvent) and is_transitory(
            event.artifact.artifact_id
        ):
            await self.show_text(event)
        else:
            await self._publish(event)

    async def show_text(self, update: TaskArtifactUpdateEvent) -> None:
        """Shows an update of text in flight: the first chunk of a section, or its end."""
        if not self.live.over:
            await self.announce()
            await self.live.readers.show_text(update)

    async def add_text(self, artifact_id: str, chunk: str) -> bool:
        """Shows one more chunk of an open section; False if no such section is open."""
        return self.live.over or await self.live.readers.add_text(artifact_id, chunk)

    def require_result(self) -> None:
        if self.task is None or self.task.status.state not in SETTLED_STATES:
            raise InvalidAgentResponseError("The agent ended without a result.")

    async def fail(self, error: A2AError) -> None:
        """Ends a run that broke, unless it was told to stop."""
        if self._ending is None:
            await self.end(TaskState.TASK_STATE_FAILED, error)

    async def stop(self, ending: TaskState) -> None:
        """Stops the work, within a bound; only this ending counts from here on."""
        self._ending = self._ending or ending
        worker = self._worker
        if worker is None or worker.done():
            return
        worker.cancel()
        await asyncio.wait({worker}, timeout=SECONDS_TO_STOP)
        if not worker.done():
            logger.warning("task %s: the executor does not stop when cancelled", self.task_id)
            _given_up.add(worker)
            worker.add_done_callback(_given_up.discard)
            self._release()

    async def end(self, state: TaskState, error: A2AError | None = None) -> None:
        """Ends the task in the words of the server, unless it ended before.

        Where there is no task that a caller knows of, the callers get the error itself.
        """
        if self.live.over:
            return
        if error and (self.task is None or (self._worker and not self.live.first.done())):
            self.live.answer(error)
            self.live.end()
            return
        message = text_message(str(error)) if error else None
        await self._apply(self.stamp.status_update(state, message=message))

    def _release(self) -> None:
        """Nothing more is expected of the executor."""
        if not self.released.done():
            self.released.set_result(None)
        if self._ending is None and not self.live.over:
            self.live.end()

    async def _publish(self, event: TaskEvent) -> None:
        task_id = event.id if isinstance(event, Task) else event.task_id
        if task_id != self.task_id:
            raise InvalidAgentResponseError(f"An event of task {self.task_id} names another task.")
        if not isinstance(event, Task):
            await self.announce()
        state = settled_state_of(event)
        if state is None or self._ending in (None, state):
            await self._apply(event)

    async def _answer_directly(self, message: Message) -> None:
        if self.live.announced:
            done = self.stamp.status_update(TaskState.TASK_STATE_COMPLETED, message=message)
            await self._publish(done)
        elif self.task is not None:
            raise InvalidAgentResponseError("A Message cannot follow a Task.")
        else:
            self.live.readers.show(message)
            self.live.answer(message)
            self.live.end()

    async def _apply(self, event: TaskEvent) -> None:
        if not await self.live.apply(event):
            self._lose()

    def _lose(self) -> None:
        """The task is no longer this process's to change: whatever works on it may stop."""
        self._ending = self._ending or TaskState.TASK_STATE_FAILED
        if self._worker and not self._worker.done():
            self._worker.cancel()
