"""Errors before an answer begins, in the envelope of each front end."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from aion_adk.formats.encoder import openai_error, text_for_caller
from aion_adk.formats.request import RequestError

Endpoint = Callable[[Request], Awaitable[Response]]


class Envelope(Protocol):
    def __call__(self, text: str, *, code: str, param: str | None = None) -> dict[str, Any]: ...


def guarded(endpoint: Endpoint, envelope: Envelope) -> Endpoint:
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


def openai_guarded(endpoint: Endpoint) -> Endpoint:
    return guarded(endpoint, _openai_envelope)


def unknown_model(model: str) -> Response:
    text = f"The model `{model}` does not exist or you do not have access to it."
    body = openai_error(text, kind="invalid_request_error", code="model_not_found", param="model")
    return JSONResponse(body, status_code=404)


def unauthenticated(text: str) -> dict[str, Any]:
    return openai_error(text, kind="invalid_request_error", code="invalid_api_key")


def _openai_envelope(text: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "server_error" if code == "internal_error" else "invalid_request_error"
    return openai_error(text, kind=kind, code=code, param=param)
