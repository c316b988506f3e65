"""How a front end streams: A2A events, each encoded in the words of one protocol."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from a2a.server.events import Event
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class A2AEvents(Protocol):
    """The A2A events of one call; an async generator is one."""

    def __anext__(self) -> Awaitable[Event]: ...

    def aclose(self) -> Awaitable[object]: ...


class FrameEncoder(Protocol):
    """Writes the events of one call in the words of one protocol."""

    def event_frames(self, event: Event) -> Sequence[str]: ...

    def end_frames(self) -> Sequence[str]:
        """What follows the last event."""
        ...

    def error_frames(self, error: Exception) -> Sequence[str]:
        """What ends a stream that broke; raises `error` if the client may not learn of it."""
        ...


class EventStream(Response):
    """Sends each event as it comes, and closes their source when the client leaves.

    `first` is an event that was taken beforehand, so that a refusal could be an ordinary response.
    `on_close` is called with the last event that was taken, however the stream ended.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: A2AEvents,
        encoder: FrameEncoder,
        *,
        first: Event | None = None,
        headers: Mapping[str, str] | None = None,
        on_close: Callable[[Event | None], None] | None = None,
    ) -> None:
        super().__init__(headers={**_HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._events = events
        self._encoder = encoder
        self._first = first
        self._on_close = on_close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client_leaves = asyncio.timeout(None)
        watcher = asyncio.create_task(_watch(receive, client_leaves))
        try:
            async with client_leaves:
                await self._write(send)
        except TimeoutError:
            if not client_leaves.expired():
                raise
        finally:
            watcher.cancel()

    async def _write(self, send: Send) -> None:
        taken = last = self._first
        over = False
        try:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            while not over:
                try:
                    if taken is None:
                        taken = await self._events.__anext__()
                    last, taken = taken, None
                    frames = self._encoder.event_frames(last)
                except StopAsyncIteration:
                    over, frames = True, self._encoder.end_frames()
                except Exception as error:
                    over, frames = True, self._encoder.error_frames(error)
                if frames:
                    body = "".join(frames).encode()
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        finally:
            try:
                await self._events.aclose()
            finally:
                if self._on_close:
                    self._on_close(last)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _watch(receive: Receive, client_leaves: asyncio.Timeout) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    client_leaves.reschedule(asyncio.get_running_loop().time())
