"""The OpenAI API's models and Chat Completions.

Each completion is a turn of a task. Its ids are in the headers `X-A2A-Context-Id` and
`X-A2A-Task-Id`; a client that sends the first one back continues the conversation.
"""

import time
from collections.abc import Collection
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from aion_adk.execution.activity import THOUGHTS, TOOL_ACTIVITY
from aion_adk.front_ends.conversations import CONTEXT_HEADER, FrontEndCalls, id_headers
from aion_adk.front_ends.openai_chat.encoder import ChatEncoder, completion_of
from aion_adk.front_ends.openai_chat.request import read_request
from aion_adk.front_ends.sse import EventStream, openai_guarded, unknown_model
from aion_adk.protocol.stamp import new_id


class ChatEndpoint:
    """Serves the agent as a model of its own name."""

    def __init__(self, calls: FrontEndCalls, *, model: str) -> None:
        self._calls = calls
        self._model = model
        self._created = int(time.time())

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/models/{model:path}", self.model, methods=["GET"]),
            Route("/v1/chat/completions", openai_guarded(self.complete), methods=["POST"]),
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
        context = self._calls.context_for(request, turn=given.turn, extensions=wanted)
        message = await self._calls.message_for(
            given.turn,
            context,
            message_id=request.headers.get("idempotency-key") or new_id(),
            context_id=given.context_id or request.headers.get(CONTEXT_HEADER, ""),
        )
        if given.stream:
            events = await self._calls.open_stream(message, context)
            first = await events.first()
            encoder = ChatEncoder(
                completion_id=f"chatcmpl-{new_id()}",
                model=self._model,
                created=int(time.time()),
                include_usage=given.include_usage,
                client_tools=given.turn.tool_names,
            )
            return EventStream(events, encoder, first=first, headers=id_headers(first))
        answer = await self._calls.send(message, context)
        completion = completion_of(
            answer,
            completion_id=f"chatcmpl-{new_id()}",
            model=self._model,
            created=int(time.time()),
            client_tools=given.turn.tool_names,
        )
        status = 500 if "error" in completion else 200
        return JSONResponse(completion, status_code=status, headers=id_headers(answer))

    @property
    def _description(self) -> dict[str, Any]:
        description = {"object": "model", "created": self._created, "owned_by": "aion-adk"}
        return {"id": self._model, **description}
