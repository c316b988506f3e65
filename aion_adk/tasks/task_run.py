"""A task while it is worked on, and the run of an executor that works on it."""

import asyncio
import copy
import logging
from dataclasses import dataclass
from functools import cached_property

from a2a.server.agent_execution import RequestContext
from a2a.server.cluster import ConcurrentTaskModificationError
from a2a.server.events import Event
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskState
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from aion_adk import timeouts
from aion_adk.errors import log_failure
from aion_adk.option_values import Seconds
from aion_adk.protocol.from_genai import text_message
from aion_adk.protocol.parts import is_transitory
from aion_adk.protocol.stamp import Stamp, StampOptions, TaskQueue, join_history
from aion_adk.protocol.task_state import (
    SETTLED_STATES,
    TERMINAL_STATES,
    TaskEvent,
    add_to_history,
    settled_state_of,
    status_update_of,
    task_id_of,
    updated,
)
from aion_adk.tasks.push import PushDelivery
from aion_adk.tasks.readers import Reader, Readers
from aion_adk.tasks.record import TaskRecord

logger = logging.getLogger(__name__)

Answer = Task | Message


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """The options of the handler; `ServerOptions` has the same ones and more."""

    final_task: bool = False
    """Ends a stream with the whole task in place of its last status."""

    shutdown_grace: Seconds = 10.0
    """Seconds that running tasks get to end when the server is told to stop."""


class LiveTask:
    """Applies each event to the task, saves what is durable, and shows it to the readers.

    Terminal is final: whatever comes after it is dropped. `first` is the answer for callers that
    do not wait for the end, `settled` the answer for all others.
    """

    def __init__(
        self, record: TaskRecord, options: TaskOptions, *, push: PushDelivery | None
    ) -> None:
        loop = asyncio.get_running_loop()
        self.task: Task | None = None
        self.made_here = False
        """Whether the server made the task and the executor has sent no Task of its own."""
        self.over = False
        self.first: asyncio.Future[Answer] = loop.create_future()
        self.settled: asyncio.Future[Answer] = loop.create_future()
        self.readers = Readers()
        self.record = record
        self._push = push
        self._options = options
        self._applying = asyncio.Lock()

    async def make(self, stamp: Stamp, message: Message) -> bool:
        """Makes the task and shows it, unless there is one; False if it could not be saved."""
        async with self._applying:
            if self.task is not None or self.over:
                return True
            self.made_here = True
            return await self._apply(stamp.new_task(message))

    def resume(self, task: Task, message: Message | None) -> None:
        """Goes on with a stored task: the inbound message joins its history."""
        self.task = copy.deepcopy(task)
        if self.task.status.HasField("message"):
            add_to_history(self.task, self.task.status.message)
        if message is not None:
            join_history(self.task, message)

    async def apply(self, event: TaskEvent) -> bool:
        """Changes the task; False if it is no longer this process's to change."""
        async with self._applying:
            if self.over:
                return True
            applied = await self._apply(event)
            self.made_here = self.made_here and not isinstance(event, Task)
            return applied

    async def add_reader(self, reader: Reader) -> None:
        """Shows the current task, the text still in flight, then everything that follows."""
        # An event that is being saved is in the task already but not yet with the readers.
        async with self._applying:
            if self.first.done() and not self.first.exception():
                reader.show(
                    copy.deepcopy(self.task) if self.task is not None else self.first.result()
                )
            self.readers.add(reader)
            if self.settled.done() and (error := self.settled.exception()):
                reader.close(error if isinstance(error, Exception) else None)
            elif self.over:
                reader.close()

    def settle(self, result: Answer | Exception) -> None:
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

    def close(self) -> None:
        """Takes no further event."""
        self.over = True
        self.readers.close()

    async def _apply(self, event: TaskEvent) -> bool:
        state = settled_state_of(event)
        task = updated(self.task, event)
        if state is not None:
            self.readers.end_sections()
        unfinished = isinstance(event, TaskArtifactUpdateEvent) and not event.last_chunk
        if not unfinished and not await self._save(task):
            return False
        self.task = task
        shown = self._shown(event, task, state)
        if not self.first.done():
            self.first.set_result(copy.deepcopy(task))
        if self._push:
            self._push.send(self.record.task_id, event)
        if shown is not None:
            self.readers.show(shown)
        if state is not None:
            self.settle(copy.deepcopy(task))
        self.over = self.over or state in TERMINAL_STATES
        return True

    def _shown(self, event: TaskEvent, task: Task, state: TaskState | None) -> Event | None:
        """What the readers get of an event.

        The whole task if nobody has seen it yet, or as the last frame where that is asked for;
        nothing for an executor's own copy of a task that the server has made and shown.
        """
        is_first = not self.first.done()
        if isinstance(event, Task) and self.made_here and not is_first and state is None:
            return None
        whole = is_first or (self._options.final_task and state in TERMINAL_STATES)
        return copy.deepcopy(task) if whole else event

    async def _save(self, task: Task) -> bool:
        task_id = self.record.task_id
        try:
            await self.record.save(task)
        except ConcurrentTaskModificationError:
            logger.warning("task %s was changed by another writer; its run ends", task_id)
            await self._adopt_stored()
            return False
        except Exception as error:
            error_id = log_failure(logger, f"task {task_id} not saved", error)
            self.settle(InternalError(f"The task could not be saved. Error id: {error_id}"))
            self.close()
            return False
        return True

    async def _adopt_stored(self) -> None:
        """Ends with what another writer has stored."""
        stored = await self.record.load()
        if stored and stored.status.state in SETTLED_STATES:
            self.task = stored
            self.readers.show(status_update_of(stored))
            self.settle(copy.deepcopy(stored))
        else:
            self.settle(InternalError("The task was changed by another writer."))
        self.close()


class TaskRun(TaskQueue):
    """One run of an executor: the queue that it publishes to, and how the run ends.

    There is no queue in it: each event is applied to the task at once. A run goes on until its
    worker is done or given up (`released`: the next turn of the context may start). Once `stop` was
    called, only the state given there ends the task. A run is `over` when its task takes no further
    event.
    """

    def __init__(
        self, request: RequestContext, live: LiveTask, stamps: StampOptions, *, streaming: bool
    ) -> None:
        self.request = request
        self.record = live.record
        self.task_id = live.record.task_id
        self.streaming = streaming
        self.released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._live = live
        self._stamps = stamps
        self._worker: asyncio.Task[None] | None = None
        self._ending: TaskState | None = None

    @cached_property
    def stamp(self) -> Stamp:  # pyright: ignore[reportIncompatibleVariableOverride]  # read only
        """Made when it is first needed: it depends on the task that goes on."""
        return self._stamps.of(self.request)

    @property
    def task(self) -> Task | None:
        return self._live.task

    @property
    def over(self) -> bool:
        return self._live.over

    @property
    def result(self) -> Message | str | None:
        """What the message led to: a bare answer, the id of its task, or nothing."""
        first = self._live.first
        if not first.done() or first.exception():
            return None
        answer = first.result()
        return answer if isinstance(answer, Message) else self.task_id

    def attach(self, worker: asyncio.Task[None]) -> None:
        """Takes the asyncio task that runs the executor."""
        self._worker = worker
        worker.add_done_callback(self._on_worker_done)

    async def answer(self, *, immediately: bool) -> Answer:
        """The answer of a call that waits for the first event, or for the end of the turn."""
        # The caller may leave; the run goes on.
        future = self._live.first if immediately else self._live.settled
        return copy.deepcopy(await asyncio.shield(future))

    async def add_reader(self, reader: Reader) -> None:
        """Shows the current task, the text still in flight, then everything that follows."""
        await self._live.add_reader(reader)

    def add_subscriber(self, reader: Reader) -> None:
        """Shows everything from here on to a reader that has the task already."""
        self._live.readers.add(reader)

    async def announce(self) -> None:
        """Makes and shows the task, at work on the inbound message, unless it was made before."""
        if self.task is None and not await self._live.make(
            self.stamp, self.request.message or Message()
        ):
            self._lose()

    def resume(self, task: Task) -> None:
        """Goes on with a stored task: the inbound message joins its history."""
        self.request.current_task = copy.deepcopy(task)
        self._live.resume(task, self.request.message)

    async def enqueue_event(self, event: Event) -> None:
        if self.over:
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
        if not self.over:
            await self.announce()
            await self._live.readers.show_text(update)

    async def add_text(self, artifact_id: str, chunk: str) -> bool:
        return self._live.over or await self._live.readers.add_text(artifact_id, chunk)

    def require_settled(self) -> None:
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
        if not await timeouts.cancel_and_wait(worker, within=timeouts.SECONDS_TO_END_RUN):
            logger.warning("task %s: the executor does not stop when cancelled", self.task_id)

    async def end(self, state: TaskState, error: A2AError | None = None) -> None:
        """Ends the task, with the text of `error` if one is given, unless it ended before.

        Where no caller knows of a task yet, the callers get the error itself.
        """
        try:
            known = self.task is not None and (self._worker is None or self._live.first.done())
            if error and not known and not self.over:
                self._live.settle(error)
                self._live.close()
            elif not self.over:
                message = text_message(str(error)) if error else None
                await self._apply(self.stamp.status_update(state, message=message))
        finally:
            if self._ending is not None:
                self._release()

    def _on_worker_done(self, _worker: asyncio.Task[None]) -> None:
        # `stop` is followed by `end`, which releases the run when its task has ended.
        if self._ending is None or self.over:
            self._release()

    def _release(self) -> None:
        """Nothing more is expected of the executor."""
        if not self.released.done():
            self.released.set_result(None)
        if self._ending is None and not self.over:
            self._live.close()

    async def _publish(self, event: TaskEvent) -> None:
        if task_id_of(event) != self.task_id:
            raise InvalidAgentResponseError(f"An event of task {self.task_id} names another task.")
        if not isinstance(event, Task):
            await self.announce()
        if self._ending is None or settled_state_of(event) in (None, self._ending):
            await self._apply(event)

    async def _answer_directly(self, message: Message) -> None:
        if self._live.made_here:
            done = self.stamp.status_update(TaskState.TASK_STATE_COMPLETED, message=message)
            await self._publish(done)
        elif self.task is not None:
            raise InvalidAgentResponseError("A Message cannot follow a Task.")
        else:
            self._live.readers.show(message)
            self._live.settle(message)
            self._live.close()

    async def _apply(self, event: TaskEvent) -> None:
        if not await self._live.apply(event):
            self._lose()

    def _lose(self) -> None:
        """The task is no longer this process's to change: whatever works on it may stop."""
        self._ending = self._ending or TaskState.TASK_STATE_FAILED
        if self._worker and not self._worker.done():
            self._worker.cancel()
