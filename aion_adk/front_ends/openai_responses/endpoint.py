"""The Responses API: a response is a turn of a task.

Its id names the task and the turn, so no other store is needed: `resp_<task id>` is the first turn
of a task, `resp_<task id>.2` the second.
"""

import copy
import re
import time
from functools import partial

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.types import Message, Role, Task, TaskState
from a2a.utils.errors import TaskNotFoundError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from aion_adk.execution.activity import THOUGHTS, TOOL_ACTIVITY
from aion_adk.front_ends.conversations import (
    CONTEXT_HEADER,
    FrontEndCalls,
    id_headers,
    message_id_of,
    unknown_model,
    with_openai_errors,
)
from aion_adk.front_ends.encoder import openai_error
from aion_adk.front_ends.openai_responses.encoder import ResponsesEncoder
from aion_adk.front_ends.openai_responses.request import ResponsesRequest, read_request
from aion_adk.front_ends.request import RequestError
from aion_adk.front_ends.sse import EventStream
from aion_adk.protocol.task_state import PAUSED_STATES

PREFIX = "resp_"

_TURN = re.compile(r"[1-9][0-9]{0,8}")


class ResponsesEndpoint:
    """Serves the agent as a model with the agent's name."""

    def __init__(self, calls: FrontEndCalls, *, model: str) -> None:
        self._calls = calls
        self._model = model

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/v1/responses", with_openai_errors(self.respond), methods=["POST"]),
            Route("/v1/responses/{id}", with_openai_errors(self.get), methods=["GET"]),
        ]

    async def respond(self, request: Request) -> Response:
        given = read_request(await request.json())
        if given.model != self._model:
            return unknown_model(given.model)
        context = self._calls.context_for(
            request, turn=given.turn, extensions=[TOOL_ACTIVITY, THOUGHTS]
        )
        message = await self._message(given, request, context)
        new_encoder = partial(
            ResponsesEncoder, model=self._model, echo=given.echo, client_tools=given.turn.tool_names
        )
        if given.stream:
            events = await self._calls.open_stream(message, context)
            first = await events.first()
            encoder = new_encoder(response_id=response_id_of(first), created=int(time.time()))
            return EventStream(events, encoder, first=first, headers=id_headers(first))
        answer = await self._calls.send(message, context)
        encoder = new_encoder(response_id=response_id_of(answer), created=_time_of(answer))
        return JSONResponse(encoder.response_to(answer), headers=id_headers(answer))

    async def get(self, request: Request) -> Response:
        """An earlier response, or the current state of one in progress."""
        response_id = request.path_params["id"]
        try:
            context = self._calls.context_for(request)
            task = await self._calls.task(task_id_of(response_id), context)
        except TaskNotFoundError:
            task = None
        task = task_at(task, response_id) if task else None
        if task is None:
            text = f"Response with id '{response_id}' not found."
            body = openai_error(text, kind="invalid_request_error", code="not_found")
            return JSONResponse(body, status_code=404)
        created = _time_of(task)
        encoder = ResponsesEncoder(response_id=response_id, model=self._model, created=created)
        return JSONResponse(encoder.response_to(task), headers=id_headers(task))

    async def _message(
        self, given: ResponsesRequest, request: Request, context: ServerCallContext
    ) -> Message:
        previous = None
        if response_id := given.previous_response_id:
            try:
                previous = await self._calls.task(task_id_of(response_id), context)
            except TaskNotFoundError as error:
                text = f"Previous response with id '{response_id}' not found."
                raise RequestError(text, param="previous_response_id") from error
        context_id = given.context_id or request.headers.get(CONTEXT_HEADER, "")
        return await self._calls.message_for(
            given.turn,
            context,
            message_id=message_id_of(request),
            context_id=previous.context_id if previous else context_id,
            waiting=previous if previous and previous.status.state in PAUSED_STATES else None,
        )


def response_id_of(answer: Event) -> str:
    """The id of the response for the latest turn of the task."""
    if isinstance(answer, Message):
        return f"{PREFIX}{answer.message_id}"
    if not isinstance(answer, Task):
        return f"{PREFIX}{answer.task_id}"
    turns = sum(message.role == Role.ROLE_USER for message in answer.history)
    return f"{PREFIX}{answer.id}" if turns <= 1 else f"{PREFIX}{answer.id}.{turns}"


def task_id_of(response_id: str) -> str:
    return _task_and_turn(response_id)[0]


def task_at(task: Task, response_id: str) -> Task | None:
    """The task as it was when the response's turn ended; None if it has no such turn."""
    _, wanted = _task_and_turn(response_id)
    if not wanted:
        return None
    starts = [index for index, message in enumerate(task.history) if message.role == Role.ROLE_USER]
    if wanted > max(len(starts), 1):
        return None
    if wanted >= len(starts):
        return task
    earlier = copy.deepcopy(task)
    del earlier.history[starts[wanted] :]
    # The task went on after this turn, so this turn ended with a pause.
    earlier.status.state = TaskState.TASK_STATE_INPUT_REQUIRED
    earlier.status.message.CopyFrom(earlier.history[-1])
    return earlier


def _task_and_turn(response_id: str) -> tuple[str, int]:
    task_id, _, turn = response_id.removeprefix(PREFIX).partition(".")
    return task_id, int(turn) if _TURN.fullmatch(turn) else int(not turn)


def _time_of(answer: Task | Message) -> int:
    seconds = answer.status.timestamp.seconds if isinstance(answer, Task) else 0
    return seconds or int(time.time())
