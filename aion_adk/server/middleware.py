"""ASGI middleware: active extensions, comments on idle streams, the size of requests."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from a2a.compat.v0_3.extension_headers import LEGACY_HTTP_EXTENSION_HEADER
from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.types import AgentExtension
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_NAMES = (HTTP_EXTENSION_HEADER.lower(), LEGACY_HTTP_EXTENSION_HEADER.lower())
_RAW_NAMES = frozenset(name.encode() for name in _NAMES)


def answer_headers(
    headers: Mapping[str, str], *, declared: Iterable[AgentExtension]
) -> dict[str, str]:
    """The requested extensions that the agent has, under the name of the request's header."""
    uris = [extension.uri for extension in declared]
    answer: dict[str, str] = {}
    for name in _NAMES:
        requested = get_requested_extensions([headers.get(name, "")])
        if active := [uri for uri in uris if uri in requested]:
            answer[name] = ", ".join(active)
    return answer


class ExtensionHeaders:
    """ASGI middleware that names the active extensions in the headers of the answer."""

    def __init__(self, app: ASGIApp, declared: Sequence[AgentExtension]) -> None:
        self._app = app
        self._declared = declared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        requested = scope["type"] == "http" and not _RAW_NAMES.isdisjoint(
            name for name, _ in scope["headers"]
        )
        if not requested or not self._declared:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        joined = {name: ", ".join(headers.getlist(name)) for name in _NAMES}
        active = answer_headers(joined, declared=self._declared)

        async def send_with_extensions(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(active)
            await send(message)

        await self._app(scope, receive, send_with_extensions)


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
        await self._pass_on(message)

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()

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


class RequestLimit:
    """ASGI middleware that refuses a request of more than `max_bytes`: at once if it has a
    content length, otherwise when that much has been read."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes
        message = f"A request may have at most {max_bytes} bytes."
        body = {"error": {"code": 413, "status": "INVALID_ARGUMENT", "message": message}}
        self._refusal = JSONResponse(body, status_code=413)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_bytes:
                raise HTTPException(status_code=413)
            return message

        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > self._max_bytes:
            await self._refusal(scope, receive, send)
        else:
            await self._app(scope, counted, send)
