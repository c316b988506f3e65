"""The request handler: which run a call starts or joins, in which order, and how it is answered.

What it leaves to others:

- the plain methods (list, push configuration, extended card): a2a-sdk's handler
- which runs there are, their order, and which tasks are stored: `RunRegistry`
- one run from its start to its end: `TaskRun`
- which messages were taken before: `SeenMessages`
- webhooks: `PushDelivery`
"""

import asyncio
import copy
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import cast

from a2a.server.agent_execution import AgentExecutor
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

from aion_adk.protocol.stamp import unwritable_values_of
from aion_adk.protocol.task_state import PAUSED_STATES, require_open
from aion_adk.tasks.push import WEBHOOK, PushDelivery
from aion_adk.tasks.readers import Reader
from aion_adk.tasks.record import PlainTasks, TaskRecord
from aion_adk.tasks.registry import RunRegistry
from aion_adk.tasks.seen_messages import MessageKey, SeenMessages
from aion_adk.tasks.task_run import TaskOptions, TaskRun

CardModifier = Callable[[AgentCard, ServerCallContext], Awaitable[AgentCard]]

_CreateConfig = Callable[
    [TaskPushNotificationConfig, ServerCallContext], Awaitable[TaskPushNotificationConfig]
]


class BridgeRequestHandler(DefaultRequestHandler):
    """Runs any `AgentExecutor`: one asyncio task per run, the runs of a context in order, each
    message once. A client that leaves does not stop its run.

    `durable` says that the store outlives this process, and that no other process runs tasks on
    it: messages taken before a restart are looked up there, and a stored task that is at work but
    has no run in this process ends FAILED when it is next read.
    """

    def __init__(
        self,
        agent_executor: AgentExecutor,
        task_store: TaskStore | VersionedTaskStore,
        agent_card: AgentCard,
        *,
        options: TaskOptions | None = None,
        push: PushDelivery | None = None,
        extended_agent_card: AgentCard | None = None,
        extended_card_modifier: CardModifier | None = None,
        durable: bool = False,
        remembered_messages: int = 10_000,
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
        self._card = agent_card
        self._durable = durable
        self._seen = SeenMessages(most=remembered_messages)
        self._registry = RunRegistry(
            agent_executor,
            self._tasks,
            self._seen,
            options or TaskOptions(),
            push=push,
            durable=durable,
        )
        self._canceling: dict[str, asyncio.Task[Task | None]] = {}

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        answer = await self._run_for(params, context, streaming=False)
        if isinstance(answer, TaskRun):
            answer = await self._answer_of(answer, params, context)
        if isinstance(answer, Message):
            return answer
        return apply_history_length(answer, params.configuration)

    async def open_stream(self, params: SendMessageRequest, context: ServerCallContext) -> Reader:
        """Starts or joins a run; the reader gets everything from here on."""
        self._require_streaming()
        answer = await self._run_for(params, context, streaming=True)
        reader = Reader(configuration=params.configuration)
        if isinstance(answer, TaskRun):
            await answer.add_reader(reader)
        else:
            reader.show(answer)
            reader.close()
        return reader

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        async with aclosing(await self.open_stream(params, context)) as events:
            async for event in events:
                yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        validate_proto_required_fields(params)
        validate_history_length(params)
        return apply_history_length(await self._registry.require(params.id, context), params)

    async def open_subscription(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> Reader:
        """The reader of a task's run, or of the next run of a task that waits for its caller."""
        self._require_streaming()
        validate_proto_required_fields(params)
        subscriber = Reader(updates_only=True)
        self._registry.subscribers.add(params.id, subscriber)
        try:
            task = await self._registry.require(params.id, context)
            require_open(task)
        except BaseException:
            await subscriber.aclose()
            raise
        if run := self._registry.run_of(params.id):
            await subscriber.aclose()
            reader = Reader()
            await run.add_reader(reader)
            return reader
        subscriber.show_first(task)
        if task.status.state not in PAUSED_STATES:
            subscriber.close()
        return subscriber

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        async with aclosing(await self.open_subscription(params, context)) as events:
            async for event in events:
                yield event

    async def on_cancel_task(
        self, params: CancelTaskRequest, context: ServerCallContext
    ) -> Task | None:
        validate_proto_required_fields(params)
        task = await self._registry.require(params.id, context)
        if task.id in self._canceling:
            raise TaskNotCancelableError(f"Task {task.id} is being canceled already.")
        require_open(task, otherwise=TaskNotCancelableError)
        canceling = asyncio.create_task(self._registry.cancel(task, context))
        self._canceling[task.id] = canceling
        canceling.add_done_callback(lambda _: self._canceling.pop(task.id))
        # The caller may leave; its task ends.
        ended = await asyncio.shield(canceling)
        if ended is None or ended.status.state != TaskState.TASK_STATE_CANCELED:
            raise TaskNotCancelableError(f"Task {task.id} ended before it could be canceled.")
        return copy.deepcopy(ended)

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
        self._registry.begin_shutdown()

    async def aclose(self) -> None:
        await self._registry.aclose()
        await asyncio.gather(*self._canceling.values(), return_exceptions=True)
        if self._push:
            await self._push.aclose()

    async def _run_for(
        self, params: SendMessageRequest, context: ServerCallContext, *, streaming: bool
    ) -> TaskRun | Task | Message:
        """The run that this message starts or joins, or what it led to if it was handled before."""
        require_admissible(params)
        message = params.message
        record = await self._record_named_by(message, context)
        if params.configuration.HasField(WEBHOOK):
            await self._check_webhook(params.configuration.task_push_notification_config.url)
            record = None  # the task may have changed in the meantime
        if message.context_id:
            owner, context_id = resolve_user_scope(context), message.context_id
            if self._durable and await self._seen.recall(self._tasks, owner, context_id, context):
                record = None
            key = MessageKey(owner, context_id, message.message_id)
            if known := await self._known(key, context):
                return known
        if record and record.task:
            require_open(record.task)
        return self._registry.start(params, context, streaming=streaming, record=record)

    async def _record_named_by(
        self, message: Message, context: ServerCallContext
    ) -> TaskRecord | None:
        if not message.task_id:
            return None
        record, task = await self._registry.require_record(message.task_id, context)
        if message.context_id and message.context_id != task.context_id:
            raise InvalidParamsError(
                f"Context {message.context_id} is not that of task {message.task_id}."
            )
        message.context_id = task.context_id
        return record

    async def _known(
        self, key: MessageKey, context: ServerCallContext
    ) -> TaskRun | Task | Message | None:
        known = self._seen.get(key)
        if not isinstance(known, str):
            return known
        if run := self._registry.run_of(known):
            return run
        if task := await self._registry.find(known, context):
            return task
        self._seen.drop(key, known)
        again = self._seen.get(key)
        return again if isinstance(again, TaskRun) else None

    async def _answer_of(
        self, run: TaskRun, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        immediately = params.configuration.return_immediately
        if immediately and self._registry.waits(run):
            # A turn that waits for others has no task event yet; its caller does not wait with it.
            if stored := await self._tasks.get(run.task_id, context):
                return stored.task
            await self._registry.announce(run)
        return await run.answer(immediately=immediately)

    async def _check_webhook(self, url: str) -> None:
        if not self._push or not self._card.capabilities.push_notifications:
            raise PushNotificationNotSupportedError("The agent sends no push notifications.")
        if not await self._push.accepts(url):
            raise InvalidParamsError("The webhook must have a public http or https address.")

    def _require_streaming(self) -> None:
        if not self._card.capabilities.streaming:
            raise UnsupportedOperationError("Streaming is not supported by the agent.")


def require_admissible(params: SendMessageRequest) -> None:
    """Refuses what lacks a part, asks for nonsense, or could not be written as JSON again."""
    message, has_webhook = params.message, params.configuration.HasField(WEBHOOK)
    # a2a-sdk, which says what is missing, takes far longer.
    if has_webhook or not (message.message_id and message.role and message.parts):
        validate_proto_required_fields(params)
    validate_history_length(params.configuration)
    if list(unwritable_values_of(message)):
        raise InvalidParamsError("The message holds NaN or infinity, or nests too deep for JSON.")
