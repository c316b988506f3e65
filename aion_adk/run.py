"""One run of an executor: the live task, who reads it, and how it ends."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.cluster import ConcurrentTaskModificationError
from a2a.server.events import Event, EventQueue
from a2a.types import (
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from aion_adk.audience import Answer, Audience
from aion_adk.delta import is_transitory
from aion_adk.inflight import TextInFlight
from aion_adk.outbound import text_message
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

SECONDS_TO_STOP = 6.0

Execute = Callable[["Run"], Awaitable[None]]
Notify = Callable[[TaskEvent], None]

# asyncio keeps only weak references to tasks; one that ignores its cancellation stays here.
_given_up: set[asyncio.Task[None]] = set()


class Run(EventQueue):
    """The queue an executor publishes to, with no queue in it: each event is applied and passed on.

    Terminal is final: whatever is published after it is dropped, and once the run is told to
    stop, only the end it is stopped with counts. Text in flight goes to the readers and is kept
    only until its section ends, for readers that join late. `first` and `settled` hold what a
    caller that does not stream is answered with; `released` is done when the next turn of the
    context may start.
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
        self.released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._audience = Audience()
        self._record = record
        self._notify = notify
        self._final_task = final_task
        self._text = TextInFlight()
        self._applying = asyncio.Lock()
        self._worker: asyncio.Task[None] | None = None
        self._announced = False
        self._over = False
        self._verdict: TaskState | None = None

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

    def start(self, execute: Execute) -> None:
        self._worker = asyncio.create_task(self._work(execute))
        self._worker.add_done_callback(lambda _: self._release())

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

    async def enqueue_event(self, event: Event) -> None:
        if self._over:
            logger.debug("task %s is over; dropped %s", self.task_id, type(event).__name__)
        elif isinstance(event, Message):
            await self._answer_directly(event)
        elif isinstance(event, TaskArtifactUpdateEvent) and is_transitory(
            event.artifact.artifact_id
        ):
            await self._pass_text(event)
        else:
            await self._publish(event)

    def keep_text(self, artifact_id: str, text: str) -> bool:
        """Keeps a chunk for readers that join late; False if there are some, or it is the first."""
        return not self._audience.reads and self._text.add(artifact_id, text)

    async def cancel(self, executor: AgentExecutor) -> None:
        """Stops the work and ends the task CANCELED, unless it ended before."""
        await self._stop(TaskState.TASK_STATE_CANCELED)
        try:
            async with asyncio.timeout(SECONDS_TO_STOP):
                await executor.cancel(self.context, self)
        except Exception:
            logger.exception("task %s: the executor's cancel failed", self.task_id)
        await self._apply(self._stamp.status_update(TaskState.TASK_STATE_CANCELED))

    async def fail(self, text: str) -> None:
        """Stops the work and ends the task FAILED with `text`, unless it ended before."""
        await self._stop(TaskState.TASK_STATE_FAILED)
        await self._end_failed(InternalError(text))

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

    async def _work(self, execute: Execute) -> None:
        try:
            await execute(self)
            if self.task is None or self.task.status.state not in SETTLED_STATES:
                raise InvalidAgentResponseError("The agent ended without a result.")
        except A2AError as error:
            await self._end_unless_stopped(error)
        except asyncio.CancelledError:
            await self._end_unless_stopped(InternalError("The run was interrupted."))
            raise
        except BaseException:
            # What is no Exception would leave the callers waiting; an exit, the loop stopped.
            error_id = new_id()
            logger.exception("task %s failed, error id %s", self.task_id, error_id)
            await self._end_unless_stopped(InternalError(f"Internal error. Error id: {error_id}"))

    async def _end_unless_stopped(self, error: A2AError) -> None:
        if self._verdict is None:
            await self._end_failed(error)

    async def _end_failed(self, error: A2AError) -> None:
        """FAILED if there is a task, else the error itself; nothing for a run that is over."""
        if self._over:
            return
        if self.task is None or (self._worker and not self.first.done()):
            self._audience.settle(error)
            self._end()
            return
        message = text_message(str(error), message_id=new_id())
        await self._apply(self._stamp.status_update(TaskState.TASK_STATE_FAILED, message=message))

    async def _stop(self, verdict: TaskState) -> None:
        self._verdict = self._verdict or verdict
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

    def _release(self) -> None:
        """Nothing more is expected of the executor."""
        if not self.released.done():
            self.released.set_result(None)
        if self._verdict is None or self._over:
            self._end()

    async def _publish(self, event: TaskEvent) -> None:
        self._require_own(event)
        if self.task is None and not isinstance(event, Task):
            await self.announce()
        state = settled_state_of(event)
        if state is None or self._verdict in (None, state):
            await self._apply(event)

    def _require_own(self, event: TaskEvent) -> None:
        task_id = event.id if isinstance(event, Task) else event.task_id
        if task_id != self.task_id:
            raise InvalidAgentResponseError(f"An event of task {self.task_id} names another task.")

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
            self._interrupt()
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
        self._interrupt()

    def _interrupt(self) -> None:
        self._verdict = self._verdict or TaskState.TASK_STATE_FAILED
        if self._worker and not self._worker.done():
            self._worker.cancel()

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

    async def _answer_directly(self, message: Message) -> None:
        if self._announced:
            done = self._stamp.status_update(TaskState.TASK_STATE_COMPLETED, message=message)
            await self._publish(done)
            return
        if self.task is not None:
            raise InvalidAgentResponseError("A Message cannot follow a Task.")
        self._audience.show(message)
        self._audience.settle(message)
        self._end()

    async def _pass_text(self, event: TaskArtifactUpdateEvent) -> None:
        self._text.take(event)
        self._audience.show(event)
        await self._audience.take_it()
