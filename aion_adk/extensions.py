"""The answer's headers that name the A2A extensions which are active in a call."""

from collections.abc import Iterable, Mapping, Sequence

from a2a.compat.v0_3.extension_headers import LEGACY_HTTP_EXTENSION_HEADER
from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.types import AgentExtension
from starlette.datastructures import Headers, MutableHeaders
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
