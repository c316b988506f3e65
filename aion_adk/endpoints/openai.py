"""The OpenAI API: models and Chat Completions here, the Responses API beside it.

Each completion is a turn of a task. Its ids are in the headers `X-A2A-Context-Id` and
`X-A2A-Task-Id`; a client that sends the first one back goes on with the conversation.
"""

import time
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import Any

from a2a.server.events import Event
from a2a.types import Message, Task
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from aion_adk.activity import THOUGHTS, TOOL_ACTIVITY
from aion_adk.endpoints.openai_errors import openai_guarded, unknown_model
from aion_adk.endpoints.responses import ResponsesEndpoint
from aion_adk.endpoints.telling import json_frame, rejoined, told
from aion_adk.endpoints.turns import CONTEXT_HEADER, Turns, ids_of
from aion_adk.formats.openai_chat.encoder import ChatEncoder, completion_of
from aion_adk.formats.openai_chat.request import ChatRequest, read_request
from aion_adk.sse import EventStream
from aion_adk.stamp import new_id

_DONE = "data: [DONE]\n\n"


class OpenAIEndpoint:
    """Serves the agent as a model of its own name."""

    def __init__(self, turns: Turns, *, model: str) -> None:
        self._turns = turns
        self._model = model
        self._created = int(time.time())

    def routes(self) -> list[BaseRoute]:
        responses = ResponsesEndpoint(self._turns, model=self._model)
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/models/{model:path}", self.model, methods=["GET"]),
            Route("/v1/chat/completions", openai_guarded(self.complete), methods=["POST"]),
            Route("/v1/responses", openai_guarded(responses.respond), methods=["POST"]),
            Route("/v1/responses/{id}", openai_guarded(responses.get), methods=["GET"]),
        ]

    async def models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [self._description]})

    async def model(self, request: Request) -> Response:
        model = request.path_params["model"]
        if model != self._model:
            return unknown_model(model)
        return JSONResponse(self._description)

    async def complete(self, request: Request) -> Response:
        given = read_request(await request.json())
        if given.model != self._model:
            return unknown_model(given.model)
        wanted: Collection[str] = [TOOL_ACTIVITY, *([THOUGHTS] if given.include_reasoning else [])]
        call = self._turns.call(request, turn=given.turn, extensions=wanted)
        message = await self._turns.message_for(
            given.turn,
            call,
            message_id=request.headers.get("idempotency-key") or new_id(),
            context_id=given.context_id or request.headers.get(CONTEXT_HEADER, ""),
        )
        if not given.stream:
            return self._whole(given, await self._turns.answer(message, call))
        events = self._turns.events(message, call)
        first = await anext(events)
        return EventStream(self._frames(given, rejoined(first, events)), headers=ids_of(first))

    def _whole(self, given: ChatRequest, answer: Task | Message) -> Response:
        completion = completion_of(
            answer,
            completion_id=_completion_id(),
            model=self._model,
            created=int(time.time()),
            client_tools=given.turn.tool_names,
        )
        status = 500 if "error" in completion else 200
        return JSONResponse(completion, status_code=status, headers=ids_of(answer))

    async def _frames(
        self, given: ChatRequest, events: AsyncGenerator[Event, None]
    ) -> AsyncGenerator[str, None]:
        encoder = ChatEncoder(
            completion_id=_completion_id(),
            model=self._model,
            created=int(time.time()),
            include_usage=given.include_usage,
            client_tools=given.turn.tool_names,
        )
        async with aclosing(told(encoder, events)) as chunks:
            async for chunk in chunks:
                yield json_frame(chunk)
        yield _DONE

    @property
    def _description(self) -> dict[str, Any]:
        description = {"object": "model", "created": self._created, "owned_by": "aion-adk"}
        return {"id": self._model, **description}


def _completion_id() -> str:
    return f"chatcmpl-{new_id()}"
