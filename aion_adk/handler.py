"""The request handler: which run a call starts or joins, in which order, and what it is answered.

a2a-sdk's handler keeps the plain methods (list, push configuration, extended card). The life of a
run is `Run`'s, which runs there are and in which order is `Runs`' to say, which tasks are stored
`FoundTasks`', which message was taken before the `Ledger`'s, and webhooks are `PushDelivery`'s.
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
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.task import apply_history_length, validate_history_length

from aion_adk.admission import require_admissible
from aion_adk.found import FoundTasks
from aion_adk.ledger import Ledger, MessageKey
from aion_adk.push import PushDelivery
from aion_adk.recall import Recall
from aion_adk.record import PlainTasks
from aion_adk.run import Run
from aion_adk.runs import Runs
from aion_adk.snapshot import (
    SETTLED_STATES,
    TERMINAL_STATES,
    as_update,
    copy_of,
    require_open,
    state_name,
)
from aion_adk.turn import STREAMING

CardModifier = Callable[[AgentCard, ServerCallContext], Awaitable[AgentCard]]

_CreateConfig = Callable[
    [TaskPushNotificationConfig, ServerCallContext], Awaitable[TaskPushNotificationConfig]
]


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
        self._durable = durable
        self._ledger = Ledger(most=remembered_messages)
        self._recall = Recall(self._tasks, self._ledger, most=remembered_messages)
        self._runs = Runs(
            agent_executor,
            self._tasks,
            self._ledger,
            push=push,
            final_task=final_task,
            shutdown_grace=shutdown_grace,
        )
        self._found = FoundTasks(self._tasks, self._runs, durable=durable)
        self._canceling: dict[str, asyncio.Task[Task | None]] = {}

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        run = await self._run_for(params, context)
        if not isinstance(run, Run):
            return _limited(run, params)
        if params.configuration.return_immediately and self._runs.waits(run):
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
        return apply_history_length(await self._found.named(params.id, context), params)

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        self._require_streaming()
        validate_proto_required_fields(params)
        with self._runs.following(params.id) as follower:
            task = await self._found.named(params.id, context)
            require_open(task)
            run = self._runs.of(params.id)
            if run is None:
                yield task
                if task.status.state in SETTLED_STATES:
                    async for event in follower.events():
                        yield as_update(event)
                return
        async with aclosing(run.events()) as events:
            async for event in events:
                yield event

    async def on_cancel_task(
        self, params: CancelTaskRequest, context: ServerCallContext
    ) -> Task | None:
        validate_proto_required_fields(params)
        task = await self._found.named(params.id, context)
        if task.status.state in TERMINAL_STATES or task.id in self._canceling:
            raise TaskNotCancelableError(f"Task {task.id} is over: {state_name(task)}.")
        canceling = asyncio.create_task(self._runs.cancel(task, context))
        self._canceling[task.id] = canceling
        canceling.add_done_callback(lambda _: self._canceling.pop(task.id))
        # The caller may leave; its task ends.
        ended = await asyncio.shield(canceling)
        if ended is None or ended.status.state != TaskState.TASK_STATE_CANCELED:
            raise TaskNotCancelableError(f"Task {task.id} ended before it could be canceled.")
        return copy_of(ended)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        # a2a-sdk's decorator hides the type of what it wraps.
        create = cast(_CreateConfig, super().on_create_task_push_notification_config)  # pyright: ignore[reportUnknownMemberType]  # reason above
        created = await create(params, context)
        if self._push:
            self._push.watch(created.task_id)
        return created

    def begin_shutdown(self) -> None:
        """No new runs; those in flight get their grace, then end FAILED with the reason."""
        self._runs.begin_shutdown()

    async def aclose(self) -> None:
        await self._runs.aclose()
        if self._push:
            await self._push.aclose()
        await super().aclose()

    async def _run_for(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Run | Task | Message:
        """The run this message starts or joins; what it led to if the message is done with."""
        require_admissible(params)
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
            require_open(task)
        return self._runs.start(params, context)

    async def _task_named_by(self, message: Message, context: ServerCallContext) -> Task | None:
        if not message.task_id:
            return None
        task = await self._found.named(message.task_id, context)
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
        if run := self._runs.of(known):
            return run
        if task := await self._found.get(known, context):
            return task
        self._ledger.drop(key, known)
        again = self._ledger.get(key)
        return again if isinstance(again, Run) else None

    async def _waiting_task(self, run: Run, context: ServerCallContext) -> Task | Message:
        """A turn that waits for others has no task event yet; its caller does not wait with it."""
        if stored := await self._tasks.get(run.task_id, context):
            return stored.task
        if isinstance(self.agent_executor, ChecksMessages):
            self.agent_executor.check(run.context)
        await run.announce()
        return await asyncio.shield(run.first)

    async def _check_push_config(self, params: SendMessageRequest) -> None:
        if not params.configuration.HasField("task_push_notification_config"):
            return
        if not self._push or not self._agent_card.capabilities.push_notifications:
            raise PushNotificationNotSupportedError("The agent sends no push notifications.")
        if not await self._push.accepts(params.configuration.task_push_notification_config.url):
            raise InvalidParamsError("Push notifications cannot go to this URL.")

    def _require_streaming(self) -> None:
        if not self._agent_card.capabilities.streaming:
            raise UnsupportedOperationError("Streaming is not supported by the agent.")


def _limited(answer: Task | Message, params: SendMessageRequest) -> Task | Message:
    if isinstance(answer, Message):
        return answer
    return apply_history_length(answer, params.configuration)
