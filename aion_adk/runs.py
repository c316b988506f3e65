"""The runs of one server: which are in flight, in which order they run, and how they end."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import resolve_user_scope
from a2a.types import SendMessageRequest, Task
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError

from aion_adk.ledger import Ledger, MessageKey
from aion_adk.order import ArrivalOrder, Place
from aion_adk.push import PushDelivery
from aion_adk.record import TaskRecord
from aion_adk.run import Run
from aion_adk.snapshot import TaskEvent, copy_of, require_open
from aion_adk.subscription import Subscription

_SHUTTING_DOWN = "The server is shutting down."


class Runs:
    """Starts runs, one after the other within a context, and knows them until they end."""

    def __init__(
        self,
        executor: AgentExecutor,
        tasks: VersionedTaskStore,
        ledger: Ledger,
        *,
        push: PushDelivery | None,
        final_task: bool,
        shutdown_grace: float,
    ) -> None:
        self._executor = executor
        self._tasks = tasks
        self._ledger = ledger
        self._push = push
        self._final_task = final_task
        self._shutdown_grace = shutdown_grace
        self._of_task: dict[str, Run] = {}
        self._in_flight: set[Run] = set()
        self._waiting: set[Run] = set()
        self._followers: dict[str, set[Subscription]] = {}
        self._order = ArrivalOrder()
        self._closing: asyncio.Task[None] | None = None

    def of(self, task_id: str) -> Run | None:
        """The run that the task is in, if it is in one."""
        run = self._of_task.get(task_id)
        return None if run is None or run.over else run

    @contextmanager
    def following(self, task_id: str) -> Generator[Subscription, None, None]:
        """A reader of the next run of a task that waits for its caller."""
        reader = Subscription()
        followers = self._followers.setdefault(task_id, set())
        followers.add(reader)
        try:
            yield reader
        finally:
            reader.close()
            followers.discard(reader)
            if not followers and self._followers.get(task_id) is followers:
                del self._followers[task_id]

    def waits(self, run: Run) -> bool:
        """Whether turns that came before it in its context are not over."""
        return run in self._waiting

    def start(self, params: SendMessageRequest, context: ServerCallContext) -> Run:
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
        run = self._new(request)
        owner = resolve_user_scope(context)
        context_id = request.context_id or ""
        key = (owner, context_id, message.message_id)
        place = self._order.take((owner, context_id))

        async def execute(run: Run) -> None:
            await place.reached
            self._waiting.discard(run)
            self._of_task[run.task_id] = run
            if follow_up:
                self._bring_followers(run)
                await _resume(run)
            if self._push:
                await self._push.expect(run.task_id, params, context, goes_on=follow_up)
            await self._executor.execute(run.context, run)

        run.start(execute)
        if not follow_up:
            self._of_task[run.task_id] = run
        if not place.reached.done():
            self._waiting.add(run)
        self._in_flight.add(run)
        self._ledger.note(key, run)
        run.released.add_done_callback(lambda _: self._forget(run, key, place))
        return run

    def parked(self, task: Task, context: ServerCallContext) -> Run:
        """A run that does nothing, to end a task that is in none."""
        return self._new(
            RequestContext(
                call_context=context, task_id=task.id, context_id=task.context_id, task=task
            )
        )

    async def cancel(self, task: Task, context: ServerCallContext) -> Task | None:
        """Ends the task CANCELED, unless it ended before; returns it as it is then."""
        run = self.of(task.id)
        if run is None:
            run = self.parked(task, context)
            self._bring_followers(run)
        if run.task is None:
            run.resume(await run.load() or task)
        await run.cancel(self._executor)
        return run.task

    def begin_shutdown(self) -> None:
        """No new runs; those in flight get their grace, then end FAILED with the reason."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._drain())

    async def aclose(self) -> None:
        self.begin_shutdown()
        if self._closing:
            await self._closing

    def _bring_followers(self, run: Run) -> None:
        for reader in self._followers.pop(run.task_id, ()):
            run.join(reader)

    async def _drain(self) -> None:
        for reader in [each for readers in self._followers.values() for each in readers]:
            reader.close()
        if self._in_flight and self._shutdown_grace > 0:
            released = [run.released for run in self._in_flight]
            await asyncio.wait(released, timeout=self._shutdown_grace)
        await asyncio.gather(*(run.fail(_SHUTTING_DOWN) for run in list(self._in_flight)))

    def _new(self, request: RequestContext) -> Run:
        task_id = request.task_id or ""

        def notify(event: TaskEvent) -> None:
            if self._push:
                self._push.send(task_id, event)

        record = TaskRecord(self._tasks, task_id, request.call_context)
        return Run(request, record, notify=notify, final_task=self._final_task)

    def _forget(self, run: Run, key: MessageKey, place: Place) -> None:
        self._order.leave(place)
        self._waiting.discard(run)
        self._in_flight.discard(run)
        self._ledger.close(key, run)
        if self._of_task.get(run.task_id) is run:
            del self._of_task[run.task_id]


async def _resume(run: Run) -> None:
    task = await run.load()
    if task is None:
        raise TaskNotFoundError(f"Task {run.task_id} not found.")
    require_open(task)
    run.context.current_task = copy_of(task)
    run.resume(task)
