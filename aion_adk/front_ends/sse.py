"""How a front end answers: event streams, and errors in its own envelope."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from a2a.server.events import Event
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError, UnsupportedOperationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from aion_adk.front_ends.encoder import openai_error, text_for_caller
from aion_adk.front_ends.request import RequestError

_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class EventSource(Protocol):
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
        events: EventSource,
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


Endpoint = Callable[[Request], Awaitable[Response]]


class Envelope(Protocol):
    def __call__(self, text: str, *, code: str, param: str | None = None) -> dict[str, Any]: ...


def with_errors_in(endpoint: Endpoint, envelope: Envelope) -> Endpoint:
    """The endpoint with its errors in `envelope`; the text of an unexpected one is only logged."""

    async def guard(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (json.JSONDecodeError, UnicodeError):
            status, body = 400, envelope("The body is not JSON in UTF-8.", code="invalid_request")
        except RequestError as error:
            status, body = 400, envelope(str(error), code="invalid_request", param=error.param)
        except TaskNotFoundError as error:
            status, body = 404, envelope(str(error), code="not_found")
        except (InvalidParamsError, UnsupportedOperationError) as error:
            status, body = 400, envelope(str(error), code="invalid_request")
        except Exception as error:
            status, body = 500, envelope(text_for_caller(error), code="internal_error")
        return JSONResponse(body, status_code=status)

    return guard


def with_openai_errors(endpoint: Endpoint) -> Endpoint:
    return with_errors_in(endpoint, _openai_envelope)


def unknown_model(model: str) -> Response:
    text = f"The model `{model}` does not exist or you do not have access to it."
    body = openai_error(text, kind="invalid_request_error", code="model_not_found", param="model")
    return JSONResponse(body, status_code=404)


def unauthenticated(text: str) -> dict[str, Any]:
    return openai_error(text, kind="invalid_request_error", code="invalid_api_key")


def _openai_envelope(text: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "server_error" if code == "internal_error" else "invalid_request_error"
    return openai_error(text, kind=kind, code=code, param=param)
