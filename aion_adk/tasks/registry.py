"""The runs of one server: which are in flight, in which order they run, and how they are ended."""

import asyncio
import copy
import logging
from typing import Protocol, runtime_checkable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import resolve_user_scope
from a2a.types import SendMessageRequest, Task, TaskState
from a2a.utils.errors import A2AError, InternalError, TaskNotFoundError, UnsupportedOperationError
from google.protobuf.struct_pb2 import Struct

from aion_adk import timeouts
from aion_adk.errors import internal_error_text
from aion_adk.protocol.stamp import StampOptions
from aion_adk.protocol.task_state import SETTLED_STATES, require_open
from aion_adk.tasks.push import PushDelivery
from aion_adk.tasks.readers import Reader
from aion_adk.tasks.record import TaskRecord
from aion_adk.tasks.seen_messages import MessageKey, SeenMessages
from aion_adk.tasks.task_run import LiveTask, TaskOptions, TaskRun

logger = logging.getLogger(__name__)

_SHUTTING_DOWN = "The server is shutting down."
_INTERRUPTED = "The run was interrupted by a restart of the server."


@runtime_checkable
class TaskExecutor(Protocol):
    """An executor that leaves making, announcing and ending its tasks to the handler.

    `execution/executor` has one.
    """

    stamps: StampOptions

    def check(self, context: RequestContext) -> None:
        """Refuses a message that cannot be used, with an A2AError. It is called before `execute`,
        with the same context, and before the message changes anything."""
        ...

    def answers_with_task(self, context: RequestContext) -> bool:
        """Whether the answer is sure to be a task, so that it can be shown before the run."""
        ...


class Subscribers:
    """Readers of paused tasks, until the next run of their task takes them."""

    def __init__(self) -> None:
        self._task_ids: dict[Reader, str] = {}
        self._closed = False

    def add(self, task_id: str, reader: Reader) -> None:
        self._task_ids[reader] = task_id
        reader.source = self
        if self._closed:
            reader.close()

    def remove(self, reader: Reader) -> None:
        del self._task_ids[reader]

    def hand_to(self, run: TaskRun) -> None:
        for reader in [key for key, task_id in self._task_ids.items() if task_id == run.task_id]:
            self.remove(reader)
            run.add_subscriber(reader)

    def close(self) -> None:
        self._closed = True
        for reader in self._task_ids:
            reader.close()


class RunRegistry:
    """Starts runs, knows them until they end, and finds tasks.

    With `durable`, a stored task at work that no run here works on ends FAILED when it is found:
    the process that ran it is gone.
    """

    def __init__(
        self,
        executor: AgentExecutor,
        tasks: VersionedTaskStore,
        seen: SeenMessages,
        options: TaskOptions,
        *,
        push: PushDelivery | None,
        durable: bool,
    ) -> None:
        self.subscribers = Subscribers()
        self._executor = executor
        self._task_executor = executor if isinstance(executor, TaskExecutor) else None
        self._stamps = self._task_executor.stamps if self._task_executor else StampOptions()
        self._tasks = tasks
        self._seen = seen
        self._options = options
        self._push = push
        self._durable = durable
        self._runs: dict[str, TaskRun] = {}
        self._in_flight: set[TaskRun] = set()
        self._waiting: set[TaskRun] = set()
        self._of_context: dict[tuple[str, str], list[TaskRun]] = {}
        """The runs of each context, in the order in which they came."""
        self._closing: asyncio.Task[None] | None = None

    def run_of(self, task_id: str) -> TaskRun | None:
        """The run that works on the task, if there is one."""
        run = self._runs.get(task_id)
        return None if run is None or run.over else run

    def waits(self, run: TaskRun) -> bool:
        """Whether turns that came before it in its context are not over."""
        return run in self._waiting

    async def require(self, task_id: str, context: ServerCallContext) -> Task:
        """The task that a call names; an error if the caller has none of that id."""
        return (await self.require_record(task_id, context))[1]

    async def require_record(
        self, task_id: str, context: ServerCallContext
    ) -> tuple[TaskRecord, Task]:
        record = TaskRecord(self._tasks, task_id, context)
        task = await self._load(record, context)
        if task is None:
            raise TaskNotFoundError(f"Task {task_id} not found.")
        return record, task

    async def find(self, task_id: str, context: ServerCallContext) -> Task | None:
        return await self._load(TaskRecord(self._tasks, task_id, context), context)

    def start(
        self,
        params: SendMessageRequest,
        context: ServerCallContext,
        *,
        streaming: bool,
        record: TaskRecord | None = None,
    ) -> TaskRun:
        """A new run, which begins when the turns before it in its context are over.

        `record` is that of the task that goes on, if it was read just now.
        """
        if self._closing:
            raise UnsupportedOperationError(_SHUTTING_DOWN)
        message = params.message
        follow_up = bool(message.task_id)
        request = RequestContext(
            call_context=context,
            request=params,
            task_id=message.task_id or None,
            context_id=message.context_id or None,
        )
        owner = resolve_user_scope(context)
        context_id = request.context_id or ""
        key = MessageKey(owner, context_id, message.message_id)
        in_order = self._of_context.setdefault((owner, context_id), [])
        waits = bool(in_order)
        run = self._new_run(request, record=None if waits else record, streaming=streaming)
        in_order.append(run)
        run.attach(asyncio.create_task(self._work(run, in_order, follow_up=follow_up)))
        if waits:
            self._waiting.add(run)
        if not (follow_up and waits):
            self._runs[run.task_id] = run
        self._in_flight.add(run)
        self._seen.note(key, run)
        run.released.add_done_callback(lambda _: self._forget(run, key))
        return run

    async def announce(self, run: TaskRun) -> None:
        """Shows the task of a turn that waits for others, whose caller does not wait with it."""
        if self._task_executor:
            self._task_executor.check(run.request)
        await run.announce()

    async def cancel(self, task: Task, context: ServerCallContext) -> Task | None:
        """Ends the task CANCELED, unless it ended before; returns it as it is then."""
        run = self.run_of(task.id)
        if run is None:
            run = self._idle_run(task, context)
        if run.task is None:
            run.resume(await run.record.load() or task)
        self.subscribers.hand_to(run)
        await run.stop(TaskState.TASK_STATE_CANCELED)
        try:
            async with asyncio.timeout(timeouts.SECONDS_TO_END_RUN):
                await self._executor.cancel(run.request, run)
        except Exception:
            logger.exception("task %s: the executor's cancel failed", task.id)
        await run.end(TaskState.TASK_STATE_CANCELED)
        return run.task

    def begin_shutdown(self) -> None:
        """No new runs; those in flight get their grace, then end FAILED with the reason."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._drain())

    async def aclose(self) -> None:
        self.begin_shutdown()
        if self._closing:
            await self._closing

    async def _work(self, run: TaskRun, in_order: list[TaskRun], *, follow_up: bool) -> None:
        """The run from its place in the context to its end; only here is `execute` called."""
        try:
            while place := in_order.index(run):
                await asyncio.wait([in_order[place - 1].released])
            self._waiting.discard(run)
            self._runs[run.task_id] = run
            if follow_up:
                await self._resume(run)
            if self._task_executor:
                self._task_executor.check(run.request)
            if self._push:
                await self._push.keep_webhook(run.request, goes_on=follow_up)
            if follow_up:
                self.subscribers.hand_to(run)
            if self._task_executor:
                await self._show_start(run, self._task_executor, follow_up=follow_up)
            await self._executor.execute(run.request, run)
            run.require_settled()
        except A2AError as error:
            await run.fail(error)
        except asyncio.CancelledError:
            await run.fail(InternalError("The run was interrupted."))
            raise
        except BaseException as error:
            # BaseException too: its callers would wait for ever, and an exit would stop the loop.
            text = internal_error_text(logger, f"task {run.task_id} failed", error)
            await run.fail(InternalError(text))

    async def _resume(self, run: TaskRun) -> None:
        task = run.record.task or await run.record.load()
        if task is None:
            raise TaskNotFoundError(f"Task {run.task_id} not found.")
        require_open(task)
        run.resume(task)

    async def _show_start(self, run: TaskRun, executor: TaskExecutor, *, follow_up: bool) -> None:
        """The first event: the new task, or WORKING for a task that goes on. Where a bare Message
        may be the answer, the task waits for something else to show."""
        if follow_up:
            working = run.stamp.status_update(TaskState.TASK_STATE_WORKING, metadata=Struct())
            await run.enqueue_event(working)
        elif executor.answers_with_task(run.request):
            await run.announce()
            run.request.current_task = copy.deepcopy(run.task)

    async def _load(self, record: TaskRecord, context: ServerCallContext) -> Task | None:
        task = await record.load()
        if task is None or not self._durable or self.run_of(task.id) is not None:
            return task
        if task.status.state in SETTLED_STATES:
            return task
        return await self._end_interrupted(task, context)

    async def _end_interrupted(self, task: Task, context: ServerCallContext) -> Task:
        """Ends a task whose run was lost with the process that ran it."""
        run = self._idle_run(task, context)
        fresh = await run.record.load() or task
        if fresh.status.state in SETTLED_STATES:
            return fresh
        run.resume(fresh)
        await run.end(TaskState.TASK_STATE_FAILED, InternalError(_INTERRUPTED))
        return run.task or fresh

    async def _drain(self) -> None:
        self.subscribers.close()
        grace = self._options.shutdown_grace
        if self._in_flight and grace > 0:
            await asyncio.wait([run.released for run in self._in_flight], timeout=grace)
        await asyncio.gather(*(self._shut_down(run) for run in list(self._in_flight)))

    async def _shut_down(self, run: TaskRun) -> None:
        await run.stop(TaskState.TASK_STATE_FAILED)
        await run.end(TaskState.TASK_STATE_FAILED, InternalError(_SHUTTING_DOWN))

    def _idle_run(self, task: Task, context: ServerCallContext) -> TaskRun:
        """A run without an executor at work, to end a task that no other run works on."""
        if self._push:
            self._push.watch(task.id)
        return self._new_run(
            RequestContext(
                call_context=context, task_id=task.id, context_id=task.context_id, task=task
            )
        )

    def _new_run(
        self, request: RequestContext, *, record: TaskRecord | None = None, streaming: bool = False
    ) -> TaskRun:
        record = record or TaskRecord(self._tasks, request.task_id or "", request.call_context)
        live = LiveTask(record, self._options, push=self._push)
        return TaskRun(request, live, self._stamps, streaming=streaming)

    def _forget(self, run: TaskRun, key: MessageKey) -> None:
        in_order = self._of_context[key.owner, key.context_id]
        in_order.remove(run)
        if not in_order:
            del self._of_context[key.owner, key.context_id]
        self._waiting.discard(run)
        self._in_flight.discard(run)
        self._seen.finish(key, run)
        if self._runs.get(run.task_id) is run:
            del self._runs[run.task_id]
