"""What goes wrong before an answer begins, in the envelope of each front end."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from a2a.utils.errors import (
    A2AError,
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from aion_adk.formats.request import RequestError
from aion_adk.stamp import new_id

logger = logging.getLogger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]


class Envelope(Protocol):
    def __call__(self, text: str, *, code: str, param: str | None = None) -> dict[str, Any]: ...


def guarded(endpoint: Endpoint, envelope: Envelope) -> Endpoint:
    """The endpoint, its errors in `envelope`; the text of an unexpected one stays in the log."""

    async def guard(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (json.JSONDecodeError, UnicodeError):
            body = envelope("The body is not JSON in UTF-8.", code="invalid_request")
            return JSONResponse(body, status_code=400)
        except RequestError as error:
            body = envelope(str(error), code="invalid_request", param=error.param)
            return JSONResponse(body, status_code=400)
        except A2AError as error:
            body = envelope(str(error), code=code_of(error))
            return JSONResponse(body, status_code=status_of(error))
        except Exception as error:
            body = envelope(text_for_caller(error), code="internal_error")
            return JSONResponse(body, status_code=500)

    return guard


def text_for_caller(error: Exception) -> str:
    """What an error says that is meant for callers; of any other the id that the log has."""
    if isinstance(error, A2AError):
        return str(error)
    error_id = new_id()
    logger.error("request failed, error id %s", error_id, exc_info=error)
    return f"Internal error. Error id: {error_id}"


def status_of(error: A2AError) -> int:
    match error:
        case TaskNotFoundError():
            return 404
        case InvalidParamsError() | UnsupportedOperationError():
            return 400
        case _:
            return 500


def code_of(error: A2AError) -> str:
    match status_of(error):
        case 404:
            return "not_found"
        case 400:
            return "invalid_request"
        case _:
            return "internal_error"
