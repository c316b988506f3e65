"""The largest request that is read."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


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

        length = Headers(scope=scope).get("content-length")
        if length is None:
            await self._app(scope, counted, send)
        elif length.isdecimal() and int(length) > self._max_bytes:
            await self._refusal(scope, receive, send)
        else:
            # The server reads no further than the length.
            await self._app(scope, receive, send)
