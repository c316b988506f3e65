"""Which task a turn of another protocol belongs to, and the calls of the A2A handler it takes."""

import asyncio
import logging
import re
from collections.abc import Collection
from contextlib import suppress

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError
from starlette.requests import Request

from aion_adk.context.client_tools import CLIENT_SIDE, client_side
from aion_adk.formats.tools import ToolCall, tool_calls_of
from aion_adk.front_ends.request import ClientTurn, RequestError
from aion_adk.protocol.task_state import PAUSED_STATES, RUNNING_STATES
from aion_adk.tasks.guarded_handler import GuardedHandler
from aion_adk.tasks.readers import Reader

logger = logging.getLogger(__name__)

CONTEXT_HEADER = "X-A2A-Context-Id"
TASK_HEADER = "X-A2A-Task-Id"

_PAGE_SIZE = 100
_IN_A_HEADER = re.compile("[!-~]+")


class FrontEndCalls:
    """Starts, resumes and reads turns through the handler that serves A2A."""

    def __init__(self, handler: GuardedHandler, contexts: ServerCallContextBuilder) -> None:
        self._handler = handler
        self._contexts = contexts
        self._canceling: set[asyncio.Task[None]] = set()

    def context_for(
        self, request: Request, *, turn: ClientTurn | None = None, extensions: Collection[str] = ()
    ) -> ServerCallContext:
        """The context of the call as on the A2A routes, with what the client brings along."""
        context = self._contexts.build(request)
        context.requested_extensions = context.requested_extensions | set(extensions)
        if turn:
            context.state[CLIENT_SIDE] = client_side(
                tools=turn.tools,
                instructions=turn.instructions,
                state=turn.state,
                history=turn.history,
            )
        return context

    async def message_for(
        self,
        turn: ClientTurn,
        context: ServerCallContext,
        *,
        message_id: str,
        context_id: str = "",
        waiting: Task | None = None,
    ) -> Message:
        """The message to send: to the task that waits for it, or to a new one."""
        waiting = waiting or await self.waiting_task(turn, context, context_id=context_id)
        pending = _pending_of(waiting)
        if waiting and _is_given_up(turn, pending):
            await self.cancel(waiting.id, context)
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
        self, turn: ClientTurn, context: ServerCallContext, *, context_id: str
    ) -> Task | None:
        """The task that waits for these results, or for anything in this context."""
        if not context_id and not turn.results:
            return None
        found: list[Task] = []
        for state in sorted(PAUSED_STATES):
            params = ListTasksRequest(
                context_id=context_id, status=state, page_size=_PAGE_SIZE, history_length=0
            )
            for task in (await self._handler.on_list_tasks(params, context)).tasks:
                if context_id or turn.results.keys() & _pending_of(task).keys():
                    found.append(task)
        if len(found) > 1 and not context_id:
            # Not every model gives its calls unique ids: the others may be other callers'.
            raise RequestError(
                f"Several tasks wait for the result of {', '.join(turn.results)}:"
                f" name the conversation in the header {CONTEXT_HEADER}."
            )
        return found[0] if found else None

    async def open_stream(self, message: Message, context: ServerCallContext) -> Reader:
        return await self._handler.open_stream(SendMessageRequest(message=message), context)

    async def send(self, message: Message, context: ServerCallContext) -> Task | Message:
        return await self._handler.on_message_send(SendMessageRequest(message=message), context)

    async def task(self, task_id: str, context: ServerCallContext) -> Task:
        task = await self._handler.on_get_task(GetTaskRequest(id=task_id), context)
        if task is None:
            raise TaskNotFoundError(f"Task {task_id} not found.")
        return task

    async def cancel(self, task_id: str, context: ServerCallContext) -> None:
        with suppress(TaskNotCancelableError, TaskNotFoundError):
            await self._handler.on_cancel_task(CancelTaskRequest(id=task_id), context)

    def cancel_unless_over(self, context: ServerCallContext, last: Event | None) -> None:
        """Cancels the task of a client that left, if `last` says that it still runs.

        Does not wait, since the client's own request may be cancelled at this moment.
        """
        match last:
            case Task() if last.status.state in RUNNING_STATES:
                task_id = last.id
            case TaskStatusUpdateEvent() if last.status.state in RUNNING_STATES:
                task_id = last.task_id
            case TaskArtifactUpdateEvent():
                task_id = last.task_id
            case _:
                return
        canceling = asyncio.create_task(self._cancel_quietly(task_id, context))
        self._canceling.add(canceling)
        canceling.add_done_callback(self._canceling.discard)

    async def _cancel_quietly(self, task_id: str, context: ServerCallContext) -> None:
        try:
            await self.cancel(task_id, context)
        except A2AError as error:
            logger.warning("task %s not canceled: %s", task_id, error)


def _pending_of(task: Task | None) -> dict[str, ToolCall]:
    if task is None:
        return {}
    calls = tool_calls_of(task.status.message)
    return {call.id: call for call in calls if call.long_running}


def _is_given_up(turn: ClientTurn, pending: dict[str, ToolCall]) -> bool:
    """Whether the user sent a new message instead of the results of the client's own tools."""
    names = {call.name for call in pending.values()}
    return bool(names) and names <= set(turn.tool_names) and not turn.results.keys() & pending


def id_headers(answer: Event) -> dict[str, str]:
    """Headers that tell a client which context and task its answer belongs to."""
    task_id = answer.id if isinstance(answer, Task) else answer.task_id
    ids = {CONTEXT_HEADER: answer.context_id, TASK_HEADER: task_id}
    # A client may choose a context id that no header can hold.
    return {name: value for name, value in ids.items() if _IN_A_HEADER.fullmatch(value)}
