"""Requests that leave for public addresses only, whatever a name resolves to by then."""

import asyncio
import socket

import httpx
from a2a.utils.push_url_validator import validate_push_notification_url

_PORTS = {"http": 80, "https": 443}


class NotPublic(httpx.RequestError):
    """The name has no public address; to try again would not help."""


class PublicAddresses(httpx.AsyncBaseTransport):
    """Connects to the very address that was checked: the next look-up may give another one.

    No connection is kept: it would be known by its address, which other names may share.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        unkept = httpx.Limits(max_keepalive_connections=0)
        self._transport = transport or httpx.AsyncHTTPTransport(limits=unkept)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        failure: httpx.ConnectError | None = None
        for address in await _addresses_of(request.url):
            pinned = _pinned(request, address)
            if not await validate_push_notification_url(str(pinned.url)):
                raise NotPublic(f"{request.url.host} is no public address", request=request)
            try:
                return await self._transport.handle_async_request(pinned)
            except httpx.ConnectError as error:
                failure = error
        raise failure or httpx.ConnectError(f"{request.url.host} is unknown", request=request)

    async def aclose(self) -> None:
        await self._transport.aclose()


async def _addresses_of(url: httpx.URL) -> list[str]:
    port = url.port or _PORTS[url.scheme]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            url.host, port, type=socket.SOCK_STREAM
        )
    except OSError:
        return []
    return [str(address[0]) for *_, address in found]


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    """The same request to one address; its certificate must still be that of the name."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
