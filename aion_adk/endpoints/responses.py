"""The Responses API: a response is a turn of a task, and its id names the task."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.types import Message, Task
from a2a.utils.errors import TaskNotFoundError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from aion_adk.activity import THOUGHTS, TOOL_ACTIVITY
from aion_adk.endpoints.openai_errors import unknown_model, unknown_response
from aion_adk.endpoints.telling import json_frame, rejoined, told
from aion_adk.endpoints.turns import CONTEXT_HEADER, Turns, ids_of, is_waiting
from aion_adk.formats.openai_responses.encoder import ResponsesEncoder, response_of
from aion_adk.formats.openai_responses.ids import response_id_of, task_at, task_id_of
from aion_adk.formats.openai_responses.request import ResponsesRequest, read_request
from aion_adk.formats.request import RequestError
from aion_adk.sse import EventStream
from aion_adk.stamp import new_id


class ResponsesEndpoint:
    """Serves the agent as a model of its own name."""

    def __init__(self, turns: Turns, *, model: str) -> None:
        self._turns = turns
        self._model = model

    async def respond(self, request: Request) -> Response:
        given = read_request(await request.json())
        if given.model != self._model:
            return unknown_model(given.model)
        call = self._turns.call(request, turn=given.turn, extensions=[TOOL_ACTIVITY, THOUGHTS])
        message = await self._message(given, request, call)
        if not given.stream:
            answer = await self._turns.answer(message, call)
            response = response_of(
                answer,
                response_id=response_id_of(answer),
                model=self._model,
                created=_time_of(answer),
                echo=given.echo,
                client_tools=given.turn.tool_names,
            )
            return JSONResponse(response, headers=ids_of(answer))
        events = self._turns.events(message, call)
        first = await anext(events)
        frames = self._frames(given, first, rejoined(first, events))
        return EventStream(frames, headers=ids_of(first))

    async def get(self, request: Request) -> Response:
        """A response given before, as its task has it; one in progress as far as it has come."""
        response_id = request.path_params["id"]
        try:
            task = await self._turns.task(task_id_of(response_id), self._turns.call(request))
        except TaskNotFoundError:
            return unknown_response(response_id)
        turn = task_at(task, response_id)
        if turn is None:
            return unknown_response(response_id)
        return JSONResponse(
            response_of(turn, response_id=response_id, model=self._model, created=_time_of(task)),
            headers=ids_of(task),
        )

    async def _message(
        self, given: ResponsesRequest, request: Request, call: ServerCallContext
    ) -> Message:
        previous = None
        if given.previous_response_id:
            previous = await self._previous(given.previous_response_id, call)
        context_id = given.context_id or request.headers.get(CONTEXT_HEADER, "")
        return await self._turns.message_for(
            given.turn,
            call,
            message_id=request.headers.get("idempotency-key") or new_id(),
            context_id=previous.context_id if previous else context_id,
            waiting=previous if previous and is_waiting(previous) else None,
        )

    async def _previous(self, response_id: str, call: ServerCallContext) -> Task:
        try:
            return await self._turns.task(task_id_of(response_id), call)
        except TaskNotFoundError as error:
            text = f"Previous response with id '{response_id}' not found."
            raise RequestError(text, param="previous_response_id") from error

    async def _frames(
        self, given: ResponsesRequest, first: Event, events: AsyncGenerator[Event, None]
    ) -> AsyncGenerator[str, None]:
        encoder = ResponsesEncoder(
            response_id=response_id_of(first),
            model=self._model,
            created=int(time.time()),
            echo=given.echo,
            client_tools=given.turn.tool_names,
        )
        async with aclosing(told(encoder, events)) as items:
            async for item in items:
                yield json_frame(item, event=item["type"])


def _time_of(answer: Task | Message) -> int:
    seconds = answer.status.timestamp.seconds if isinstance(answer, Task) else 0
    return seconds or int(time.time())
