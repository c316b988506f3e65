"""The request handler: which run a call starts or joins, in which order, and what it is answered.

a2a-sdk's handler keeps the plain methods (get, list, push configuration, extended card); the
life of a run is `Run`'s, the order of a context's turns `ArrivalOrder`'s, which message was taken
before is the `Ledger`'s to know, and webhooks are `PushDelivery`'s.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Protocol, cast, runtime_checkable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.cluster import LegacyTaskStoreAdapter, VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.owner_resolver import resolve_user_scope
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import TaskStore
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.task import apply_history_length, validate_history_length

from aion_adk.ledger import Ledger, MessageKey
from aion_adk.order import ArrivalOrder, Place
from aion_adk.push import PushDelivery
from aion_adk.recall import Recall
from aion_adk.record import PlainTasks, TaskRecord
from aion_adk.run import Run
from aion_adk.snapshot import SETTLED_STATES, TERMINAL_STATES, TaskEvent, copy_of, state_name
from aion_adk.turn import STREAMING

CardModifier = Callable[[AgentCard, ServerCallContext], Awaitable[AgentCard]]

_CreateConfig = Callable[
    [TaskPushNotificationConfig, ServerCallContext], Awaitable[TaskPushNotificationConfig]
]

_SHUTTING_DOWN = "The server is shutting down."
_INTERRUPTED = "The run was interrupted by a restart of the server."


@runtime_checkable
class ChecksMessages(Protocol):
    """An executor that can say before a run that a message is of no use to it."""

    def check(self, context: RequestContext) -> None: ...


class BridgeRequestHandler(DefaultRequestHandler):
    """Runs any `AgentExecutor`: one asyncio task a run, in order within a context, each message
    once, and no run that a client's leaving could stop.

    `durable` says that the store outlives this process, and that no other process runs tasks on
    it: messages taken before a restart are looked up there, and a task that it shows at work
    without a run here ends FAILED when it is next asked for.
    """

    def __init__(
        self,
        agent_executor: AgentExecutor,
        task_store: TaskStore | VersionedTaskStore,
        agent_card: AgentCard,
        *,
        push: PushDelivery | None = None,
        extended_agent_card: AgentCard | None = None,
        extended_card_modifier: CardModifier | None = None,
        final_task: bool = False,
        durable: bool = False,
        remembered_messages: int = 10_000,
        shutdown_grace: float = 10.0,
    ) -> None:
        versioned = isinstance(task_store, VersionedTaskStore)
        super().__init__(
            agent_executor,
            PlainTasks(task_store) if versioned else task_store,
            agent_card,
            push_config_store=push.configs if push else None,
            push_url_validator=push.accepts if push else None,
            extended_agent_card=extended_agent_card,
            extended_card_modifier=extended_card_modifier,
        )
        self._tasks = task_store if versioned else LegacyTaskStoreAdapter(task_store)
        self._push = push
        self._final_task = final_task
        self._durable = durable
        self._shutdown_grace = shutdown_grace
        self._runs: dict[str, Run] = {}
        self._unfinished: set[Run] = set()
        self._order = ArrivalOrder()
        self._ledger = Ledger(most=remembered_messages)
        self._recall = Recall(self._tasks, self._ledger, most=remembered_messages)
        self._waiting: set[Run] = set()
        self._canceling: set[str] = set()
        self._closing: asyncio.Task[None] | None = None

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        run = await self._run_for(params, context)
        if not isinstance(run, Run):
            return _limited(run, params)
        if run in self._waiting and params.configuration.return_immediately:
            return _limited(await self._waiting_task(run, context), params)
        answer = run.first if params.configuration.return_immediately else run.settled
        # The caller may leave; its run goes on.
        result = await asyncio.shield(answer)
        return _limited(copy_of(result) if isinstance(result, Task) else result, params)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        self._require_streaming()
        context.state[STREAMING] = True
        run = await self._run_for(params, context)
        if not isinstance(run, Run):
            yield _limited(run, params)
            return
        async with aclosing(run.events()) as events:
            async for event in events:
                yield _limited(event, params) if isinstance(event, Task) else event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        validate_proto_required_fields(params)
        validate_history_length(params)
        return apply_history_length(await self._stored(params.id, context), params)

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        self._require_streaming()
        validate_proto_required_fields(params)
        task = await self._stored(params.id, context)
        _require_open(task)
        run = self._live(params.id)
        if run is None:
            yield task
            return
        async with aclosing(run.events()) as events:
            async for event in events:
                yield event

    async def on_cancel_task(
        self, params: CancelTaskRequest, context: ServerCallContext
    ) -> Task | None:
        validate_proto_required_fields(params)
        task = await self._stored(params.id, context)
        if task.status.state in TERMINAL_STATES or task.id in self._canceling:
            raise TaskNotCancelableError(f"Task {task.id} is over: {state_name(task)}.")
        self._canceling.add(task.id)
        try:
            run = self._live(task.id) or self._new_run(_request_for(task, context), context)
            if run.task is None:
                run.resume(await run.load() or task)
            await run.cancel(self.agent_executor)
        finally:
            self._canceling.discard(task.id)
        if run.task is None or run.task.status.state != TaskState.TASK_STATE_CANCELED:
            raise TaskNotCancelableError(f"Task {task.id} ended before it could be canceled.")
        return copy_of(run.task)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        if self._push:
            self._push.watch(params.task_id)
        # a2a-sdk's decorator hides the type of what it wraps.
        create = cast(_CreateConfig, super().on_create_task_push_notification_config)  # pyright: ignore[reportUnknownMemberType]  # reason above
        return await create(params, context)

    def begin_shutdown(self) -> None:
        """No new runs; the running ones get their grace, then end FAILED with the reason."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._drain())

    async def aclose(self) -> None:
        self.begin_shutdown()
        if self._closing:
            await self._closing
        if self._push:
            await self._push.aclose()
        await super().aclose()

    async def _drain(self) -> None:
        if self._unfinished and self._shutdown_grace > 0:
            released = [run.released for run in self._unfinished]
            await asyncio.wait(released, timeout=self._shutdown_grace)
        await asyncio.gather(*(run.fail(_SHUTTING_DOWN) for run in list(self._unfinished)))

    async def _run_for(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Run | Task | Message:
        """The run this message starts or joins; what it led to if the message is done with."""
        validate_proto_required_fields(params)
        validate_history_length(params.configuration)
        message = params.message
        task = await self._task_named_by(message, context)
        await self._check_push_config(params)
        if message.context_id:
            key = (resolve_user_scope(context), message.context_id, message.message_id)
            if self._durable:
                await self._recall.context(key[0], key[1], context)
            if known := await self._known(key, context):
                return known
        if task:
            _require_open(task)
        return self._start(params, context)

    async def _task_named_by(self, message: Message, context: ServerCallContext) -> Task | None:
        if not message.task_id:
            return None
        task = await self._stored(message.task_id, context)
        if message.context_id and message.context_id != task.context_id:
            raise InvalidParamsError(
                f"Context {message.context_id} is not that of task {message.task_id}."
            )
        message.context_id = task.context_id
        return task

    async def _known(
        self, key: MessageKey, context: ServerCallContext
    ) -> Run | Task | Message | None:
        known = self._ledger.get(key)
        if not isinstance(known, str):
            return known
        if run := self._live(known):
            return run
        if task := await self._find(known, context):
            return task
        self._ledger.drop(key, known)
        again = self._ledger.get(key)
        return again if isinstance(again, Run) else None

    def _start(self, params: SendMessageRequest, context: ServerCallContext) -> Run:
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
        run = self._new_run(request, context)
        owner = resolve_user_scope(context)
        key = (owner, message.context_id, message.message_id)
        place = self._order.take((owner, message.context_id))

        async def execute(run: Run) -> None:
            await place.reached
            self._waiting.discard(run)
            self._runs[run.task_id] = run
            if follow_up:
                await self._resume(run)
            await self._keep_push_config(run, params, context)
            await self.agent_executor.execute(run.context, run)

        run.start(execute)
        if not follow_up:
            self._runs[run.task_id] = run
        if not place.reached.done():
            self._waiting.add(run)
        self._unfinished.add(run)
        self._ledger.note(key, run)
        run.released.add_done_callback(lambda _: self._forget(run, key, place))
        return run

    async def _resume(self, run: Run) -> None:
        task = await run.load()
        if task is None:
            raise TaskNotFoundError(f"Task {run.task_id} not found.")
        _require_open(task)
        run.context.current_task = copy_of(task)
        run.resume(task)

    async def _waiting_task(self, run: Run, context: ServerCallContext) -> Task | Message:
        """A turn that waits for others has no task event yet; its caller does not wait with it."""
        if stored := await self._tasks.get(run.task_id, context):
            return stored.task
        if isinstance(self.agent_executor, ChecksMessages):
            self.agent_executor.check(run.context)
        await run.announce()
        return await asyncio.shield(run.first)

    def _new_run(self, request: RequestContext, context: ServerCallContext) -> Run:
        task_id = request.task_id or ""

        def notify(event: TaskEvent) -> None:
            if self._push:
                self._push.send(task_id, event)

        record = TaskRecord(self._tasks, task_id, context)
        return Run(request, record, notify=notify, final_task=self._final_task)

    def _live(self, task_id: str) -> Run | None:
        run = self._runs.get(task_id)
        return None if run is None or run.over else run

    def _forget(self, run: Run, key: MessageKey, place: Place) -> None:
        self._order.leave(place)
        self._waiting.discard(run)
        self._unfinished.discard(run)
        self._ledger.close(key, run)
        if self._runs.get(run.task_id) is run:
            del self._runs[run.task_id]

    async def _check_push_config(self, params: SendMessageRequest) -> None:
        if not params.configuration.HasField("task_push_notification_config"):
            return
        if not self._push or not self._agent_card.capabilities.push_notifications:
            raise PushNotificationNotSupportedError("The agent sends no push notifications.")
        if not await self._push.accepts(params.configuration.task_push_notification_config.url):
            raise InvalidParamsError("Push notifications cannot go to this URL.")

    async def _keep_push_config(
        self, run: Run, params: SendMessageRequest, context: ServerCallContext
    ) -> None:
        if not self._push:
            return
        if params.configuration.HasField("task_push_notification_config"):
            config = params.configuration.task_push_notification_config
            await self._push.configs.set_info(run.task_id, config, context)
            self._push.watch(run.task_id)
        elif run.task is not None:
            # A task that goes on may have webhooks from before, known to the store alone.
            self._push.watch(run.task_id)

    async def _stored(self, task_id: str, context: ServerCallContext) -> Task:
        task = await self._find(task_id, context)
        if task is None:
            raise TaskNotFoundError(f"Task {task_id} not found.")
        return task

    async def _find(self, task_id: str, context: ServerCallContext) -> Task | None:
        stored = await self._tasks.get(task_id, context)
        if stored is None:
            return None
        task = stored.task
        left_behind = self._durable and task_id not in self._runs
        if left_behind and task.status.state not in SETTLED_STATES:
            return await self._end_interrupted(task, context)
        return task

    async def _end_interrupted(self, task: Task, context: ServerCallContext) -> Task:
        """Ends a task whose run was lost with the process that ran it."""
        run = self._new_run(_request_for(task, context), context)
        fresh = await run.load() or task
        if fresh.status.state in SETTLED_STATES:
            return fresh
        run.resume(fresh)
        await run.fail(_INTERRUPTED)
        return run.task or fresh

    def _require_streaming(self) -> None:
        if not self._agent_card.capabilities.streaming:
            raise UnsupportedOperationError("Streaming is not supported by the agent.")


def _request_for(task: Task, context: ServerCallContext) -> RequestContext:
    return RequestContext(
        call_context=context, task_id=task.id, context_id=task.context_id, task=task
    )


def _limited(answer: Task | Message, params: SendMessageRequest) -> Task | Message:
    if isinstance(answer, Message):
        return answer
    return apply_history_length(answer, params.configuration)


def _require_open(task: Task) -> None:
    if task.status.state in TERMINAL_STATES:
        raise UnsupportedOperationError(f"Task {task.id} is over: {state_name(task)}.")
