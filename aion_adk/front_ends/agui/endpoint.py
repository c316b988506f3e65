"""AG-UI over HTTP: `POST /agui` runs the agent, `GET /agui/capabilities` describes it."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.types import AgentCard
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from aion_adk.execution.activity import THOUGHTS, TOOL_ACTIVITY
from aion_adk.front_ends.agui.encoder import AGUIEncoder
from aion_adk.front_ends.agui.request import AGUIRequest, read_request
from aion_adk.front_ends.conversations import FrontEndCalls, with_errors_in
from aion_adk.front_ends.request import RequestError
from aion_adk.front_ends.sse import EventStream
from aion_adk.protocol.json_codec import json_frame
from aion_adk.protocol.task_state import status_update_of

AGUI_PATH = "/agui"

_NO_CACHE = {"cache-control": "no-cache"}


class AGUIEndpoint:
    """Runs the agent for AG-UI clients. A client that disconnects cancels its run."""

    def __init__(self, calls: FrontEndCalls, card: AgentCard, *, agent_name: str) -> None:
        self._calls = calls
        self._card = card
        self._agent_name = agent_name

    def routes(self) -> list[BaseRoute]:
        run = with_errors_in(self.run, error_body)
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
        context = self._calls.context_for(
            request, turn=given.turn, extensions=[TOOL_ACTIVITY, THOUGHTS]
        )
        if given.turn.is_empty:
            ids = {"threadId": given.thread_id, "runId": given.run_id}
            kinds = ("RUN_STARTED", "RUN_FINISHED")
            return _complete_stream(json_frame({"type": kind, **ids}) for kind in kinds)
        encoder = AGUIEncoder(
            thread_id=given.thread_id,
            run_id=given.run_id,
            protocol_version=given.protocol_version,
            interrupts=given.interrupts,
            client_tools=given.turn.tool_names,
            messages=given.messages,
            state=given.turn.state,
        )
        if given.cancels:
            canceled = await self._cancel_waiting(given, context)
            return _complete_stream([*encoder.event_frames(canceled), *encoder.end_frames()])
        message = await self._calls.message_for(
            given.turn, context, message_id=given.run_id, context_id=given.thread_id
        )
        events = await self._calls.open_stream(message, context)
        return EventStream(
            events,
            encoder,
            first=await events.first(),
            headers=_NO_CACHE,
            on_close=partial(self._calls.cancel_unless_over, context),
        )

    async def _cancel_waiting(self, given: AGUIRequest, context: ServerCallContext) -> Event:
        """Cancels the task whose interrupts the client cancels; returns its new status."""
        waiting = await self._calls.waiting_task(given.turn, context, context_id=given.thread_id)
        if waiting is None:
            raise RequestError("No task waits for what was cancelled.", param="resume")
        await self._calls.cancel(waiting.id, context)
        task = await self._calls.task(waiting.id, context)
        return status_update_of(task)


def capabilities_of(card: AgentCard) -> dict[str, Any]:
    """The agent's card as AG-UI's `AgentCapabilities`."""

    def accepts(kind: str) -> bool:
        return any(mode.startswith(kind) or mode == "*/*" for mode in card.default_input_modes)

    return {
        "identity": {
            "name": card.name,
            "type": "google-adk",
            "description": card.description,
            "version": card.version,
        },
        "transport": {"streaming": True, "websocket": False, "httpBinary": False},
        "tools": {"supported": True, "clientProvided": True, "parallelCalls": True},
        "state": {"snapshots": True, "deltas": True, "persistentState": True},
        "reasoning": {"supported": True, "streaming": True},
        "multimodal": {"input": {"image": accepts("image/"), "audio": accepts("audio/")}},
        "humanInTheLoop": {"supported": True, "approvals": True, "interrupts": True},
    }


def error_body(text: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    error = {"message": text, "code": code}
    return {"error": {**error, "param": param} if param else error}


def _complete_stream(frames: Iterable[str]) -> Response:
    """A stream for which nothing has to run: all its frames are known."""
    headers = {**_NO_CACHE, "x-accel-buffering": "no"}
    return Response("".join(frames), media_type="text/event-stream", headers=headers)
