"""A turn that a client of another protocol starts: which task it is part of, and its events."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, suppress

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageRequest,
    Task,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError
from starlette.requests import Request

from aion_adk.client_side import CLIENT_SIDE, client_side
from aion_adk.formats.request import ClientTurn, RequestError
from aion_adk.formats.tools import ToolCall, tool_calls_of

logger = logging.getLogger(__name__)

CONTEXT_HEADER = "X-A2A-Context-Id"
TASK_HEADER = "X-A2A-Task-Id"

_WAITING_STATES = (TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED)
_WORKING_STATES = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
_MOST_WAITING = 100
_IN_A_HEADER = re.compile("[!-~]+")


class Turns:
    """Starts, resumes and reads turns through the handler that serves A2A."""

    def __init__(self, handler: RequestHandler, calls: ServerCallContextBuilder) -> None:
        self._handler = handler
        self._calls = calls
        self._canceling: set[asyncio.Task[None]] = set()

    def call(
        self, request: Request, *, turn: ClientTurn | None = None, extensions: Collection[str] = ()
    ) -> ServerCallContext:
        """The call as on the A2A routes, with what the client brings along."""
        call = self._calls.build(request)
        call.requested_extensions = call.requested_extensions | set(extensions)
        if turn:
            call.state[CLIENT_SIDE] = client_side(
                tools=turn.tools,
                instructions=turn.instructions,
                state=turn.state,
                history=turn.history,
            )
        return call

    async def message_for(
        self,
        turn: ClientTurn,
        call: ServerCallContext,
        *,
        message_id: str,
        context_id: str = "",
        waiting: Task | None = None,
    ) -> Message:
        """The message to send: to the task that waits for it, or to a new one."""
        waiting = waiting or await self.waiting_task(turn, call, context_id=context_id)
        pending = _pending_of(waiting)
        if waiting and _is_given_up(turn, pending):
            await self.cancel(waiting.id, call)
            waiting, pending = None, {}
        results = [part for call_id, part in turn.results.items() if call_id in pending]
        parts = [*results, *turn.user_parts]
        if not parts:
            unknown = ", ".join(turn.results)
            raise RequestError(f"No task waits for the result of {unknown}.")
        return Message(
            message_id=message_id,
            role=Role.ROLE_USER,
            parts=parts,
            context_id=waiting.context_id if waiting else context_id,
            task_id=waiting.id if waiting else "",
        )

    async def waiting_task(
        self, turn: ClientTurn, call: ServerCallContext, *, context_id: str
    ) -> Task | None:
        """The task that waits for these results, or for anything in this context."""
        if not context_id and not turn.results:
            return None
        found: list[Task] = []
        for state in _WAITING_STATES:
            params = ListTasksRequest(
                context_id=context_id, status=state, page_size=_MOST_WAITING, history_length=0
            )
            for task in (await self._handler.on_list_tasks(params, call)).tasks:
                if context_id or turn.results.keys() & _pending_of(task).keys():
                    found.append(task)
        if len(found) > 1 and not context_id:
            # Not every model gives its calls ids of their own: the others may be other callers'.
            raise RequestError(
                f"Several tasks wait for the result of {', '.join(turn.results)}:"
                f" name the conversation in the header {CONTEXT_HEADER}."
            )
        return found[0] if found else None

    async def events(
        self, message: Message, call: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        request = SendMessageRequest(message=message)
        stream = self._handler.on_message_send_stream(request, call)
        async with aclosing(stream):
            async for event in stream:
                yield event

    async def answer(self, message: Message, call: ServerCallContext) -> Task | Message:
        return await self._handler.on_message_send(SendMessageRequest(message=message), call)

    async def task(self, task_id: str, call: ServerCallContext) -> Task:
        task = await self._handler.on_get_task(GetTaskRequest(id=task_id), call)
        if task is None:
            raise TaskNotFoundError(f"Task {task_id} not found.")
        return task

    async def cancel(self, task_id: str, call: ServerCallContext) -> None:
        with suppress(TaskNotCancelableError, TaskNotFoundError):
            await self._handler.on_cancel_task(CancelTaskRequest(id=task_id), call)

    def cancel_soon(self, task_id: str, call: ServerCallContext) -> None:
        """Cancels for a client that is gone; callable while its own request is cancelled."""
        canceling = asyncio.create_task(self._cancel_quietly(task_id, call))
        self._canceling.add(canceling)
        canceling.add_done_callback(self._canceling.discard)

    async def _cancel_quietly(self, task_id: str, call: ServerCallContext) -> None:
        try:
            await self.cancel(task_id, call)
        except A2AError as error:
            logger.warning("task %s not canceled: %s", task_id, error)


def _pending_of(task: Task | None) -> dict[str, ToolCall]:
    if task is None:
        return {}
    calls = tool_calls_of(task.status.message)
    return {call.id: call for call in calls if call.long_running}


def _is_given_up(turn: ClientTurn, pending: dict[str, ToolCall]) -> bool:
    """Whether the user speaks on although the client's own tools were asked for results."""
    names = {call.name for call in pending.values()}
    return bool(names) and names <= set(turn.tool_names) and not turn.results.keys() & pending


def ends_turn(event: Event) -> bool:
    match event:
        case Task() | TaskStatusUpdateEvent():
            return event.status.state not in _WORKING_STATES
        case _:
            return isinstance(event, Message)


def is_waiting(task: Task) -> bool:
    return task.status.state in _WAITING_STATES


def ids_of(answer: Event) -> dict[str, str]:
    """Headers that tell a client which conversation and task its answer is part of."""
    task_id = answer.id if isinstance(answer, Task) else answer.task_id
    ids = {CONTEXT_HEADER: answer.context_id, TASK_HEADER: task_id}
    # A client may name its context in words that no header can hold.
    return {name: value for name, value in ids.items() if _IN_A_HEADER.fullmatch(value)}
