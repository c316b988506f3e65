"""Errors of the OpenAI API, as its clients know them."""

from typing import Any

from starlette.responses import JSONResponse, Response

from aion_adk.endpoints.errors import Endpoint, guarded
from aion_adk.formats.encoder import openai_error


def openai_guarded(endpoint: Endpoint) -> Endpoint:
    return guarded(endpoint, _envelope)


def unknown_model(model: str) -> Response:
    text = f"The model `{model}` does not exist or you do not have access to it."
    body = openai_error(text, kind="invalid_request_error", code="model_not_found", param="model")
    return JSONResponse(body, status_code=404)


def unauthenticated(text: str) -> dict[str, Any]:
    return openai_error(text, kind="invalid_request_error", code="invalid_api_key")


def unknown_response(response_id: str) -> Response:
    text = f"Response with id '{response_id}' not found."
    body = openai_error(text, kind="invalid_request_error", code="not_found")
    return JSONResponse(body, status_code=404)


def _envelope(text: str, *, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "server_error" if code == "internal_error" else "invalid_request_error"
    return openai_error(text, kind=kind, code=code, param=param)
