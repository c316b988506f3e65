"""How large a request may be."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class RequestLimit:
    """ASGI middleware: a request of more than `most_bytes` is refused, by its length if it has
    one, else when that much has been read."""

    def __init__(self, app: ASGIApp, *, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes
        message = f"A request may have at most {most_bytes} bytes."
        body = {"error": {"code": 413, "status": "INVALID_ARGUMENT", "message": message}}
        self._refusal = JSONResponse(body, status_code=413)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length")
        if length is None:
            await self._app(scope, self._counted(receive), send)
        elif length.isdecimal() and int(length) > self._most_bytes:
            await self._refusal(scope, receive, send)
        else:
            # The server reads no further than the length.
            await self._app(scope, receive, send)

    def _counted(self, receive: Receive) -> Receive:
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most_bytes:
                raise HTTPException(status_code=413)
            return message

        return counted
