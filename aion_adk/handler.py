"""The request handler: which run a call starts or joins, in which order, and what it is answered.

a2a-sdk's handler keeps the plain methods (get, list, push configuration, extended card); the
life of a run is `Run`'s.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.owner_resolver import resolve_user_scope
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import PushNotificationConfigStore, PushNotificationSender, TaskStore
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.task import apply_history_length, validate_history_length

from aion_adk.run import TERMINAL_STATES, Run, copy_of
from aion_adk.turn import STREAMING

CardModifier = Callable[[AgentCard, ServerCallContext], Awaitable[AgentCard]]
_ContextKey = tuple[str, str]
_MessageKey = tuple[str, str, str]


class BridgeRequestHandler(DefaultRequestHandler):
    """Runs any `AgentExecutor`: one asyncio task a run, in order within a context, each message
    once, and no run that a client's leaving could stop."""

    def __init__(
        self,
        agent_executor: AgentExecutor,
        task_store: TaskStore,
        agent_card: AgentCard,
        *,
        push_config_store: PushNotificationConfigStore | None = None,
        push_sender: PushNotificationSender | None = None,
        extended_agent_card: AgentCard | None = None,
        extended_card_modifier: CardModifier | None = None,
        final_task: bool = False,
        remembered_messages: int = 10_000,
    ) -> None:
        super().__init__(
            agent_executor,
            task_store,
            agent_card,
            push_config_store=push_config_store,
            push_sender=push_sender,
            extended_agent_card=extended_agent_card,
            extended_card_modifier=extended_card_modifier,
        )
        self._tasks = task_store
        self._final_task = final_task
        self._runs: dict[str, Run] = {}
        self._last_in_context: dict[_ContextKey, asyncio.Task[None]] = {}
        self._ledger: OrderedDict[_MessageKey, Run | str] = OrderedDict()
        self._canceling: set[str] = set()
        self._remembered_messages = remembered_messages
        self._closing = False

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        run = await self._run_for(params, context)
        if isinstance(run, Task):
            return apply_history_length(run, params.configuration)
        answer = run.first if params.configuration.return_immediately else run.settled
        # The caller may leave; its run goes on.
        result = await asyncio.shield(answer)
        if isinstance(result, Task):
            return apply_history_length(copy_of(result), params.configuration)
        return result

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        self._require_streaming()
        context.state[STREAMING] = True
        run = await self._run_for(params, context)
        if isinstance(run, Task):
            yield apply_history_length(run, params.configuration)
            return
        async with aclosing(run.events()) as events:
            async for event in events:
                if isinstance(event, Task):
                    yield apply_history_length(event, params.configuration)
                else:
                    yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        self._require_streaming()
        validate_proto_required_fields(params)
        task = await self._stored(params.id, context)
        if task.status.state in TERMINAL_STATES:
            raise UnsupportedOperationError(f"Task {params.id} is over: {_name(task)}.")
        run = self._runs.get(params.id)
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
        if task.status.state in TERMINAL_STATES or params.id in self._canceling:
            raise TaskNotCancelableError(f"Task {params.id} is over: {_name(task)}.")
        self._canceling.add(params.id)
        try:
            run = self._runs.get(params.id) or self._parked_run(task, context)
            await run.cancel(self.agent_executor)
        finally:
            self._canceling.discard(params.id)
        result = await asyncio.shield(run.settled)
        if not isinstance(result, Task) or result.status.state != TaskState.TASK_STATE_CANCELED:
            raise TaskNotCancelableError(f"Task {params.id} ended before it could be canceled.")
        return copy_of(result)

    async def aclose(self, *, grace: float = 0) -> None:
        """No new runs; the running ones get `grace` seconds, then end FAILED with the reason."""
        self._closing = True
        working = [run.worker for run in self._runs.values() if run.worker]
        if working and grace > 0:
            await asyncio.wait(working, timeout=grace)
        await asyncio.gather(
            *(run.fail("The server is shutting down.") for run in list(self._runs.values()))
        )
        await super().aclose()

    async def _run_for(self, params: SendMessageRequest, context: ServerCallContext) -> Run | Task:
        """The run this message starts or joins; the task itself if the message is done with."""
        validate_proto_required_fields(params)
        validate_history_length(params.configuration)
        message = params.message
        task = await self._task_named_by(message, context)
        await self._accept_push_config(params, context)
        known = self._ledger.get(self._message_key(message, context))
        if isinstance(known, Run):
            return known
        if known and (done := await self._tasks.get(known, context)):
            return done
        if task and task.status.state in TERMINAL_STATES:
            raise UnsupportedOperationError(f"Task {task.id} is over: {_name(task)}.")
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

    def _start(self, params: SendMessageRequest, context: ServerCallContext) -> Run:
        if self._closing:
            raise UnsupportedOperationError("The server is shutting down.")
        follow_up = bool(params.message.task_id)
        key = self._message_key(params.message, context)
        request = RequestContext(
            call_context=context,
            request=params,
            task_id=params.message.task_id or None,
            context_id=params.message.context_id or None,
        )
        run = self._new_run(request, context)
        turn_key = (key[0], request.context_id or "")
        before = self._last_in_context.get(turn_key)

        async def execute(run: Run) -> None:
            if before and not before.done():
                await asyncio.wait({before})
            if follow_up:
                await self._resume(run, context)
            self._runs[run.task_id] = run
            await self.agent_executor.execute(run.context, run)

        worker = run.start(execute)
        self._remember(key, run)
        self._last_in_context[turn_key] = worker
        worker.add_done_callback(lambda _: self._forget(run, key, turn_key))
        return run

    async def _resume(self, run: Run, context: ServerCallContext) -> None:
        task = await self._stored(run.task_id, context)
        if task.status.state in TERMINAL_STATES:
            raise UnsupportedOperationError(f"Task {task.id} is over: {_name(task)}.")
        run.context.current_task = copy_of(task)
        run.resume(task)

    def _new_run(self, request: RequestContext, context: ServerCallContext) -> Run:
        async def save(task: Task) -> None:
            await self._tasks.save(task, context)

        return Run(request, save=save, notify=self._notify, final_task=self._final_task)

    def _parked_run(self, task: Task, context: ServerCallContext) -> Run:
        """A run that does nothing, to end a task that waits for its caller."""
        request = RequestContext(
            call_context=context, task_id=task.id, context_id=task.context_id, task=task
        )
        run = self._new_run(request, context)
        run.resume(task)
        return run

    def _message_key(self, message: Message, context: ServerCallContext) -> _MessageKey:
        return (resolve_user_scope(context), message.context_id, message.message_id)

    def _remember(self, key: _MessageKey, known: Run | str) -> None:
        if not key[1]:
            # The server chose the context: no earlier message can have been part of it.
            return
        self._ledger[key] = known
        self._ledger.move_to_end(key)
        while len(self._ledger) > self._remembered_messages:
            self._ledger.popitem(last=False)

    def _forget(self, run: Run, key: _MessageKey, turn_key: _ContextKey) -> None:
        if self._runs.get(run.task_id) is run:
            del self._runs[run.task_id]
        if self._last_in_context.get(turn_key) is run.worker:
            del self._last_in_context[turn_key]
        if self._ledger.get(key) is run:
            if run.ingested:
                self._remember(key, run.task_id)
            else:
                del self._ledger[key]

    async def _accept_push_config(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> None:
        """Checked before a run starts; stored under the task's id when it has one."""

    async def _stored(self, task_id: str, context: ServerCallContext) -> Task:
        task = await self._tasks.get(task_id, context)
        if task is None:
            raise TaskNotFoundError(f"Task {task_id} not found.")
        return task

    def _notify(self, event: Event) -> None:
        pass

    def _require_streaming(self) -> None:
        if not self._agent_card.capabilities.streaming:
            raise UnsupportedOperationError("Streaming is not supported by the agent.")


def _name(task: Task) -> str:
    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_")
