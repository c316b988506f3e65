"""Server-sent events, framed with LF alone: some AG-UI clients read nothing else."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aion_adk.wire import on_one_line

_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def frame(data: str, *, event: str = "") -> str:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {on_one_line(data)}\n\n"


class EventStream(Response):
    """Writes each frame as it comes, and stops what makes them when the client leaves."""

    media_type = "text/event-stream"

    def __init__(
        self, frames: AsyncGenerator[str, None], *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(headers={**_HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client_is_there = asyncio.timeout(None)
        watcher = asyncio.create_task(_watch(receive, client_is_there))
        try:
            async with client_is_there:
                await self._write(send)
        except TimeoutError:
            if not client_is_there.expired():
                raise
        finally:
            watcher.cancel()

    async def _write(self, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        async with aclosing(self._frames) as frames:
            async for text in frames:
                body = text.encode()
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _watch(receive: Receive, client_is_there: asyncio.Timeout) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    client_is_there.reschedule(asyncio.get_running_loop().time())
