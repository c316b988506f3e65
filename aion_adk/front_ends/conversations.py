"""What the endpoints of the other protocols share: their calls of A2A, the task that a turn of
theirs belongs to, and errors in their own envelopes."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any, Protocol

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
)
from a2a.utils.errors import (
    A2AError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from aion_adk.context.client_tools import CLIENT_SIDE, ClientSide, RemoteTool, settable_state
from aion_adk.formats.tools import ToolCall, tool_calls_of
from aion_adk.front_ends.encoder import openai_error, text_for_caller
from aion_adk.front_ends.request import ClientTurn, RequestError
from aion_adk.protocol.stamp import new_id
from aion_adk.protocol.task_state import PAUSED_STATES, RUNNING_STATES, task_id_of
from aion_adk.tasks.guarded_handler import GuardedHandler
from aion_adk.tasks.readers import Reader

logger = logging.getLogger(__name__)

CONTEXT_HEADER = "X-A2A-Context-Id"
TASK_HEADER = "X-A2A-Task-Id"

_PAGE_SIZE = 100
_HEADER_VALUE = re.compile("[!-~]+")


class FrontEndCalls:
    """Starts, resumes and reads tasks through the handler that serves A2A."""

    def __init__(self, handler: GuardedHandler) -> None:
        self._handler = handler
        self._contexts = DefaultServerCallContextBuilder()
        self._canceling: set[asyncio.Task[None]] = set()

    def context_for(
        self, request: Request, *, turn: ClientTurn | None = None, extensions: Collection[str] = ()
    ) -> ServerCallContext:
        """The context of the call as on the A2A routes, with the client's tools and history."""
        context = self._contexts.build(request)
        context.requested_extensions = context.requested_extensions | set(extensions)
        if turn:
            context.state[CLIENT_SIDE] = ClientSide(
                tools=[RemoteTool(tool) for tool in turn.tools],
                instructions=turn.instructions,
                state=settable_state(turn.state),
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
        """The message to send, to the task that waits for it or to a new one.

        A user who sends a message instead of the results of the client's own tools begins anew:
        the task that waits for them is canceled.
        """
        waiting = waiting or await self.waiting_task(turn, context, context_id=context_id)
        pending = _pending_calls(waiting) if waiting else {}
        all_client_tools = {call.name for call in pending.values()} <= set(turn.tool_names)
        if waiting and pending and all_client_tools and turn.results.keys().isdisjoint(pending):
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
        """The task that waits for these results or, with a `context_id`, for anything there."""
        if not context_id and not turn.results:
            return None
        found: list[Task] = []
        for state in sorted(PAUSED_STATES):
            params = ListTasksRequest(
                context_id=context_id, status=state, page_size=_PAGE_SIZE, history_length=0
            )
            for task in (await self._handler.on_list_tasks(params, context)).tasks:
                if context_id or turn.results.keys() & _pending_calls(task).keys():
                    found.append(task)
        if len(found) > 1 and not context_id:
            # Not every model gives its calls unique ids: one may belong to another conversation.
            raise RequestError(
                f"Several tasks wait for the result of {', '.join(turn.results)}:"
                f" name the conversation in the header {CONTEXT_HEADER}."
            )
        # Of several in one context, the one whose calls are answered.
        found.sort(key=lambda task: turn.results.keys().isdisjoint(_pending_calls(task)))
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
        """Cancels the task of a client that left if it still runs after its `last` event.

        Does not wait, since the client's own request may be cancelled at this moment.
        """
        if last is None or isinstance(last, Message):
            return
        state = None if isinstance(last, TaskArtifactUpdateEvent) else last.status.state
        if state is not None and state not in RUNNING_STATES:
            return
        canceling = asyncio.create_task(self._cancel_quietly(task_id_of(last), context))
        self._canceling.add(canceling)
        canceling.add_done_callback(self._canceling.discard)

    async def aclose(self) -> None:
        """Waits for the tasks that are being canceled."""
        await asyncio.gather(*self._canceling)

    async def _cancel_quietly(self, task_id: str, context: ServerCallContext) -> None:
        try:
            await self.cancel(task_id, context)
        except A2AError as error:
            logger.warning("task %s not canceled: %s", task_id, error)


def message_id_of(request: Request) -> str:
    """What tells a repeated request of an OpenAI client from a new one."""
    return request.headers.get("idempotency-key") or new_id()


def _pending_calls(task: Task) -> dict[str, ToolCall]:
    calls = tool_calls_of(task.status.message)
    return {call.id: call for call in calls if call.long_running}


def id_headers(answer: Event) -> dict[str, str]:
    """Headers with the context and the task that an answer belongs to."""
    ids = {CONTEXT_HEADER: answer.context_id, TASK_HEADER: task_id_of(answer)}
    # A client may choose a context id that no header can hold.
    return {name: value for name, value in ids.items() if _HEADER_VALUE.fullmatch(value)}


Endpoint = Callable[[Request], Awaitable[Response]]


class Envelope(Protocol):
    def __call__(self, text: str, *, code: str, param: str | None = None) -> dict[str, Any]: ...


def with_errors_in(endpoint: Endpoint, envelope: Envelope) -> Endpoint:
    """The endpoint with its errors in `envelope`; the text of an unexpected one is only logged."""

    async def guard(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (json.JSONDecodeError, UnicodeError):
            status, body = 400, envelope("The body is not JSON in UTF-8.", code="invalid_request")
        except RequestError as error:
            status, body = 400, envelope(str(error), code="invalid_request", param=error.param)
        except TaskNotFoundError as error:
            status, body = 404, envelope(str(error), code="not_found")
        except (InvalidParamsError, UnsupportedOperationError) as error:
            status, body = 400, envelope(str(error), code="invalid_request")
        except Exception as error:
            status, body = 500, envelope(text_for_caller(error), code="internal_error")
        return JSONResponse(body, status_code=status)

    return guard


def with_openai_errors(endpoint: Endpoint) -> Endpoint:
    return with_errors_in(endpoint, _openai_envelope)


def unknown_model(model: str) -> Response:
    text = f"The model `{model}` does not exist or you do not have access to it."
    body = openai_error(text, kind="invalid_request_error", code="model_not_found", param="model")
    return JSONResponse(body, status_code=404)


def unauthenticated(text: str) -> dict[str, Any]:
    return openai_error(text, kind="invalid_request_error", code="invalid_api_key")


def _openai_envelope(text: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "server_error" if code == "internal_error" else "invalid_request_error"
    return openai_error(text, kind=kind, code=code, param=param)
