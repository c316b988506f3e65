"""Authentication, the same on every binding."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from a2a.types import HTTPAuthSecurityScheme, SecurityScheme
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

logger = logging.getLogger(__name__)

Authenticate = Callable[[Mapping[str, str]], str | Awaitable[str | None] | None]
"""Returns the caller's name, given the headers of a call under lower-case names; None refuses."""

BEARER = {
    "bearer": SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="Bearer"))
}
UNAUTHENTICATED = "The call has no valid credentials."
_REFUSAL = {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": UNAUTHENTICATED}}


async def caller_name(authenticate: Authenticate, headers: Mapping[str, str]) -> str | None:
    """The verified name; None if the check fails with an error."""
    try:
        name = authenticate(headers)
        return await name if inspect.isawaitable(name) else name
    except Exception:
        logger.exception("a call is refused because authenticate failed")
        return None


class Authentication:
    """ASGI middleware that refuses callers unknown to `authenticate`; the card is for everyone.

    `refusals` are the bodies of other protocols' answers, by the beginning of their paths.
    """

    def __init__(
        self, app: ASGIApp, authenticate: Authenticate, refusals: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        challenge = {"WWW-Authenticate": "Bearer"}
        self._refusals = {
            start: JSONResponse(body, status_code=401, headers=challenge)
            for start, body in {**refusals, "": _REFUSAL}.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].endswith(AGENT_CARD_WELL_KNOWN_PATH):
            await self._app(scope, receive, send)
            return
        name = await caller_name(self._authenticate, Headers(scope=scope))
        if name:
            scope = {**scope, "user": SimpleUser(name), "auth": AuthCredentials(["authenticated"])}
            await self._app(scope, receive, send)
        else:
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            refusals = (self._refusals[start] for start in self._refusals if path.startswith(start))
            await next(refusals)(scope, receive, send)
