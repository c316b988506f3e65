"""Server-sent events, framed with LF alone: some AG-UI clients read nothing else."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anyio
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from aion_adk.wire import on_one_line

HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """Sends frames, and stops what makes them when the client goes away."""

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[str, None], *, headers: dict[str, str]) -> None:
        super().__init__(frames, headers={**HEADERS, **headers})
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # StreamingResponse notices a lost client only when it writes, on servers of ASGI 2.4.
        async with anyio.create_task_group() as group:

            async def send_all() -> None:
                async with aclosing(self._frames):
                    await self.stream_response(send)
                group.cancel_scope.cancel()

            group.start_soon(send_all)
            await self.listen_for_disconnect(receive)
            group.cancel_scope.cancel()


def frame(data: dict[str, Any], *, event: str = "") -> str:
    name = f"event: {event}\n" if event else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{name}data: {on_one_line(text)}\n\n"


async def rejoined(first: Any, rest: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """An iterator whose first item was taken to see whether there is one."""
    async with aclosing(rest):
        yield first
        async for item in rest:
            yield item
