"""A2A extensions: which are active in a call, and telling the caller so."""

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
    """The extensions asked for that the agent has, under the name they were asked with."""
    uris = [extension.uri for extension in declared]
    answer: dict[str, str] = {}
    for name in _NAMES:
        requested = get_requested_extensions([headers.get(name, "")])
        if active := [uri for uri in uris if uri in requested]:
            answer[name] = ", ".join(active)
    return answer


class ExtensionHeaders:
    """ASGI middleware that answers with the extensions that are active."""

    def __init__(self, app: ASGIApp, declared: Sequence[AgentExtension]) -> None:
        self._app = app
        self._declared = declared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        echoed = self._echoed(scope)
        if not echoed:
            await self._app(scope, receive, send)
            return

        async def send_with_extensions(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(echoed)
            await send(message)

        await self._app(scope, receive, send_with_extensions)

    def _echoed(self, scope: Scope) -> dict[str, str]:
        if scope["type"] != "http" or not self._declared:
            return {}
        if _RAW_NAMES.isdisjoint(name for name, _ in scope["headers"]):
            return {}
        headers = Headers(scope=scope)
        joined = {name: ", ".join(headers.getlist(name)) for name in _NAMES}
        return answer_headers(joined, declared=self._declared)
