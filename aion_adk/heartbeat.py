"""Comments that keep an idle event stream open."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COMMENT = b": heartbeat\n\n"

# The comment of sse-starlette, which a2a-sdk's routes use; no route can set its interval.
_PING = b": ping"


class Heartbeats:
    """ASGI middleware that sends a comment after `seconds` without an event; 0 for none."""

    def __init__(self, app: ASGIApp, *, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stream = _Stream(send, seconds=self._seconds)
        try:
            await self._app(scope, receive, stream.send)
        finally:
            stream.stop()


class _Stream:
    """One response; only an event stream is changed."""

    def __init__(self, send: Send, *, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self._sends_events = False
        self._sending = 0
        self._last_sent = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._heartbeat: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            content_type = Headers(raw=message["headers"]).get("content-type", "")
            self._sends_events = content_type.startswith("text/event-stream")
            if self._sends_events and self._seconds > 0:
                self._schedule(self._seconds)
        elif self._sends_events and message.get("body", b"").startswith(_PING):
            return
        elif not message.get("more_body"):
            self.stop()
        if self._sends_events:
            await self._pass_on(message)
        else:
            await self._send(message)

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    async def _pass_on(self, message: Message) -> None:
        self._sending += 1
        try:
            await self._send(message)
        finally:
            self._sending -= 1
            self._last_sent = asyncio.get_running_loop().time()

    def _schedule(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        loop = asyncio.get_running_loop()
        left = self._last_sent + self._seconds - loop.time()
        # A reader that has not taken the last write would not take a comment either.
        if left <= 0 and not self._sending:
            comment = {"type": "http.response.body", "body": COMMENT, "more_body": True}
            self._heartbeat = loop.create_task(self._pass_on(comment))
        self._schedule(left if left > 0 else self._seconds)
