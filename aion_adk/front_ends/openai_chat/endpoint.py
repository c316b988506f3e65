"""The OpenAI API's models and Chat Completions.

Each completion is a turn of a task. Its ids are in the headers `X-A2A-Context-Id` and
`X-A2A-Task-Id`; a client that sends the context id continues that conversation.
"""

import time

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
from aion_adk.front_ends.openai_chat.encoder import ChatEncoder
from aion_adk.front_ends.openai_chat.request import read_request
from aion_adk.front_ends.sse import EventStream
from aion_adk.protocol.stamp import new_id


class ChatEndpoint:
    """Serves the agent as a model with the agent's name."""

    def __init__(self, calls: FrontEndCalls, *, model: str) -> None:
        self._calls = calls
        self._model = model
        created = int(time.time())
        self._description = {
            "id": model,
            "object": "model",
            "created": created,
            "owned_by": "aion-adk",
        }

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/models/{model:path}", self.model, methods=["GET"]),
            Route("/v1/chat/completions", with_openai_errors(self.complete), methods=["POST"]),
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
        extensions = [TOOL_ACTIVITY, THOUGHTS] if given.include_reasoning else [TOOL_ACTIVITY]
        context = self._calls.context_for(request, turn=given.turn, extensions=extensions)
        message = await self._calls.message_for(
            given.turn,
            context,
            message_id=message_id_of(request),
            context_id=given.context_id or request.headers.get(CONTEXT_HEADER, ""),
        )
        encoder = ChatEncoder(
            completion_id=f"chatcmpl-{new_id()}",
            model=self._model,
            created=int(time.time()),
            include_usage=given.include_usage,
            client_tools=given.turn.tool_names,
        )
        if given.stream:
            events = await self._calls.open_stream(message, context)
            first = await events.first()
            return EventStream(events, encoder, first=first, headers=id_headers(first))
        answer = await self._calls.send(message, context)
        completion = encoder.completion(answer)
        status = 500 if "error" in completion else 200
        return JSONResponse(completion, status_code=status, headers=id_headers(answer))
