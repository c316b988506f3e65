"""A webhook that answers as n8n does."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.drivers.cases.case import SECRET, Probe
from tests.serving import listening

NOT_REGISTERED = {
    "code": 404,
    "message": 'The requested webhook "POST gone" is not registered.',
    "hint": "The workflow must be active for a production URL to run successfully.",
}


class N8n:
    """The url is known once it runs; `received` has the body of each request."""

    def __init__(self) -> None:
        self.url = ""
        self.probe: Probe | None = None
        self.received: list[Any] = []
        self.answers: dict[str, Response] = {
            "gone": JSONResponse(NOT_REGISTERED, 404),
            "broken": JSONResponse({"code": 0, "message": SECRET}, 500),
            "started": JSONResponse({"message": "Workflow was started"}),
        }
        self.turns: Counter[str] = Counter()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str, None]:
        app = Starlette(routes=[Route("/webhook/{name}", self.webhook, methods=["POST"])])
        async with listening(lambda _: app) as url:
            self.url = f"{url}/webhook"
            yield self.url

    async def webhook(self, request: Request) -> Response:
        kind = request.headers["content-type"]
        body: dict[str, Any]
        if kind.startswith("multipart/"):
            async with request.form() as form:
                body = {
                    key: value if isinstance(value, str) else (value.filename, await value.read())
                    for key, value in form.items()
                }
        else:
            body = await request.json()
        self.received.append(body)
        match request.path_params["name"]:
            case "echo":
                return stream_of(body["message"], "!")
            case "failing":
                return stream_of("A", "B", "C", error=SECRET)
            case "counting":
                self.turns[body["sessionId"]] += 1
                return JSONResponse([{"output": str(self.turns[body["sessionId"]])}])
            case "hanging":
                await self.hang(request)
                return PlainTextResponse("")
            case name:
                return self.answers[name]

    async def hang(self, request: Request) -> None:
        assert self.probe
        self.probe.started.set()
        async with asyncio.timeout(20):
            while (await request.receive())["type"] != "http.disconnect":
                pass
        self.probe.cancelled.set()


def stream_of(*items: str, error: str | None = None) -> StreamingResponse:
    async def frames() -> AsyncIterator[str]:
        yield json.dumps({"type": "begin", "metadata": {"nodeName": "AI Agent"}}) + "\n"
        for item in items:
            yield json.dumps({"type": "item", "content": item}) + "\n"
            await asyncio.sleep(0)
        if error:
            yield json.dumps({"type": "error", "content": error}) + "\n"
        yield json.dumps({"type": "end"}) + "\n"

    return StreamingResponse(frames(), media_type="application/json; charset=utf-8")
