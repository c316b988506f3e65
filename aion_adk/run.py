"""One run of an executor: its work, and how it ends."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import Event, EventQueue
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskState
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError
from typing_extensions import override

from aion_adk.live import LiveTask, Notify
from aion_adk.outbound import text_message
from aion_adk.parts import is_transitory
from aion_adk.record import TaskRecord
from aion_adk.snapshot import SETTLED_STATES, TaskEvent, settled_state_of
from aion_adk.stamp import new_id

logger = logging.getLogger(__name__)

SECONDS_TO_STOP = 6.0

Execute = Callable[["Run"], Awaitable[None]]

# asyncio keeps only weak references to tasks; one that ignores its cancellation stays here.
_given_up: set[asyncio.Task[None]] = set()


class Run(LiveTask, EventQueue):
    """The queue an executor publishes to, with no queue in it, and the executor's work itself.

    Once the run is told to stop, only the end it is stopped with counts. `released` is done when
    the next turn of the context may start.
    """

    def __init__(
        self,
        context: RequestContext,
        record: TaskRecord,
        *,
        notify: Notify,
        final_task: bool = False,
    ) -> None:
        super().__init__(context, record, notify=notify, final_task=final_task)
        self.released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._worker: asyncio.Task[None] | None = None
        self._verdict: TaskState | None = None

    def start(self, execute: Execute) -> None:
        self._worker = asyncio.create_task(self._work(execute))
        self._worker.add_done_callback(lambda _: self._release())

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
            self._refuse(error)
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

    @override
    def _lose(self) -> None:
        self._verdict = self._verdict or TaskState.TASK_STATE_FAILED
        if self._worker and not self._worker.done():
            self._worker.cancel()

    async def _answer_directly(self, message: Message) -> None:
        if self._announced:
            done = self._stamp.status_update(TaskState.TASK_STATE_COMPLETED, message=message)
            await self._publish(done)
            return
        if self.task is not None:
            raise InvalidAgentResponseError("A Message cannot follow a Task.")
        self._answer(message)
