"""AG-UI over HTTP: `POST /agui` runs the agent, `GET /agui/capabilities` says what it can do."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.types import AgentCard, Task, TaskStatusUpdateEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from aion_adk.activity import THOUGHTS, TOOL_ACTIVITY
from aion_adk.endpoints.errors import guarded
from aion_adk.endpoints.telling import json_frame, rejoined, told
from aion_adk.endpoints.turns import Turns, ends_turn
from aion_adk.formats.agui.capabilities import capabilities_of
from aion_adk.formats.agui.encoder import AGUIEncoder
from aion_adk.formats.agui.request import AGUIRequest, read_request
from aion_adk.formats.request import RequestError
from aion_adk.sse import EventStream

AGUI_PATH = "/agui"


class AGUIEndpoint:
    """Runs the agent for AG-UI clients. A client that goes away cancels its run."""

    def __init__(self, turns: Turns, card: AgentCard, *, agent_name: str) -> None:
        self._turns = turns
        self._card = card
        self._agent_name = agent_name

    def routes(self) -> list[BaseRoute]:
        run = guarded(self.run, error_body)
        return [
            Route(AGUI_PATH, run, methods=["POST"]),
            Route(f"{AGUI_PATH}/capabilities", self.capabilities, methods=["GET"]),
            Route(f"{AGUI_PATH}/{{agent}}", run, methods=["POST"]),
        ]

    async def capabilities(self, request: Request) -> Response:
        return JSONResponse(capabilities_of(self._card))

    async def run(self, request: Request) -> Response:
        agent = request.path_params.get("agent", self._agent_name)
        if agent != self._agent_name:
            body = error_body(f"There is no agent {agent} here.", code="agent_not_found")
            return JSONResponse(body, status_code=404)
        given = read_request(await request.json())
        call = self._turns.call(request, turn=given.turn, extensions=[TOOL_ACTIVITY, THOUGHTS])
        events = self._events(given, call)
        first = await anext(events, None)
        stream = _frames(given, rejoined(first, events)) if first else _silent_run(given)
        return EventStream(stream, headers={"cache-control": "no-cache"})

    async def _events(
        self, given: AGUIRequest, call: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The A2A events of the run; none for a run in which nobody says anything."""
        if given.turn.is_empty:
            return
        if given.abandons:
            async for event in self._abandon(given, call):
                yield event
            return
        message = await self._turns.message_for(
            given.turn, call, message_id=given.run_id, context_id=given.thread_id
        )
        task_id, over = "", False
        try:
            async with aclosing(self._turns.events(message, call)) as events:
                async for event in events:
                    task_id = event.id if isinstance(event, Task) else task_id
                    over = ends_turn(event)
                    yield event
        finally:
            if task_id and not over:
                self._turns.cancel_soon(task_id, call)

    async def _abandon(
        self, given: AGUIRequest, call: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        waiting = await self._turns.waiting_task(given.turn, call, context_id=given.thread_id)
        if waiting is None:
            raise RequestError("No task waits for what was cancelled.", param="resume")
        await self._turns.cancel(waiting.id, call)
        task = await self._turns.task(waiting.id, call)
        yield TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=task.status)


async def _frames(
    given: AGUIRequest, events: AsyncGenerator[Event, None]
) -> AsyncGenerator[str, None]:
    encoder = AGUIEncoder(
        thread_id=given.thread_id,
        run_id=given.run_id,
        protocol_version=given.protocol_version,
        interrupts=given.interrupts,
        client_tools=given.turn.tool_names,
        messages=given.messages,
        state=given.turn.state,
    )
    async with aclosing(told(encoder, events)) as items:
        async for item in items:
            yield json_frame(item)


async def _silent_run(given: AGUIRequest) -> AsyncGenerator[str, None]:
    for kind in ("RUN_STARTED", "RUN_FINISHED"):
        yield json_frame({"type": kind, "threadId": given.thread_id, "runId": given.run_id})


def error_body(text: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    where = {"param": param} if param else {}
    return {"error": {"message": text, "code": code, **where}}
