"""The agent card and the extended card, at the address that the client used."""

import inspect
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from a2a.server.context import ServerCallContext
from a2a.server.routes import create_agent_card_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from aion_adk.card import Servable, build_agent_card, jsonrpc_interface, rest_interface
from aion_adk.execution.activity import ACTIVITY_EXTENSIONS
from aion_adk.server.authentication import BEARER
from aion_adk.server.options import ServerOptions

_LOOPBACK = {4: "127.0.0.1", 6: "[::1]"}


def base_url_of(request: Request, options: ServerOptions) -> str:
    """Scheme, host and mount prefix of a request, without a slash at the end."""
    scheme, host = request.url.scheme, request.url.netloc
    # Not `base_url`: that is the outermost app's, without the prefixes of the mounts in it.
    prefix = request.scope.get("root_path", "")
    if options.trust_proxy_headers:
        scheme = _first(request, "x-forwarded-proto") or scheme
        host = _first(request, "x-forwarded-host") or host
        prefix = f"{_first(request, 'x-forwarded-prefix').rstrip('/')}/{prefix.lstrip('/')}"
    return reachable(urlunsplit((scheme, host, prefix, "", "")))


def public_base_url(public_url: str) -> str:
    """`public_url` without a slash at the end; a ValueError if no client could connect to it."""
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"public_url must be an http or https URL with a host, got {public_url!r}")
    if _unspecified(parts.hostname):
        raise ValueError(f"public_url must be an address that clients can use, got {public_url!r}")
    return public_url.rstrip("/")


@lru_cache(maxsize=256)
def reachable(url: str) -> str:
    """`url`, with the loopback address in place of 0.0.0.0 or [::]."""
    parts = urlsplit(url)
    version = _unspecified(parts.hostname or "")
    if version:
        port = f":{parts.port}" if parts.port else ""
        parts = parts._replace(netloc=f"{_LOOPBACK[version]}{port}")
    return urlunsplit(parts).rstrip("/")


def host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _unspecified(host: str) -> int | None:
    """The IP version if `host` is 0.0.0.0 or [::], which mean every interface."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return address.version if address.is_unspecified else None


def _first(request: Request, header: str) -> str:
    """The value that the outermost proxy set."""
    return request.headers.get(header, "").split(",")[0].strip()


_LOCAL_URL = "http://127.0.0.1:8000"
_CARDS_KEPT = 64
_CACHE_CONTROL = "public, max-age=60"
_BASE_URL = "base_url"


class AddressedCallContexts(DefaultServerCallContextBuilder):
    """Adds the address that the client used."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options

    def build(self, request: Request) -> ServerCallContext:
        call = super().build(request)
        call.state[_BASE_URL] = base_url_of(request, self._options)
        return call


def card_of(agent: Servable, options: ServerOptions) -> AgentCard:
    """The given card, or one built from the agent for its public address."""
    if options.card is not None:
        return options.card
    url = public_base_url(options.public_url) if options.public_url else _LOCAL_URL
    card = build_agent_card(
        agent,
        url=url,
        interfaces=interfaces_at(url, options),
        capabilities=AgentCapabilities(
            streaming=True,
            push_notifications=options.push_notifications,
            extended_agent_card=options.extended_card is not None,
            extensions=[*options.extensions, *ACTIVITY_EXTENSIONS],
        ),
    )
    if options.authenticate is not None:
        for name, scheme in (options.security_schemes or BEARER).items():
            card.security_schemes[name].CopyFrom(scheme)
            # One requirement for each scheme: any one of them is enough.
            card.security_requirements.add().schemes[name].SetInParent()
    return card


def interfaces_at(url: str, options: ServerOptions) -> list[AgentInterface]:
    """What is served at `url`, preferred first; clients of 1.0 ignore the 0.3 entries."""
    interfaces = [jsonrpc_interface(url), rest_interface(url)]
    if options.list_grpc and options.grpc_port:
        address = host_and_port(urlsplit(url).hostname or "", options.grpc_port)
        grpc = AgentInterface(url=address, protocol_binding="GRPC", protocol_version="1.0")
        interfaces.append(grpc)
    if options.list_v0_3:
        for interface in tuple(interfaces):
            interfaces.append(deepcopy(interface))
            interfaces[-1].protocol_version = "0.3"
    return interfaces


def card_routes(card: AgentCard, options: ServerOptions) -> Sequence[BaseRoute]:
    """The card, with the interfaces at the address that the client used if none is fixed."""
    if _address_is_fixed(options):
        return create_agent_card_routes(card, cache_control=_CACHE_CONTROL)

    @lru_cache(maxsize=_CARDS_KEPT)
    def endpoint_at(url: str) -> Callable[[Request], Awaitable[Response]]:
        served = card_at(url, card, options)
        (route,) = create_agent_card_routes(served, cache_control=_CACHE_CONTROL)
        return route.endpoint

    async def agent_card(request: Request) -> Response:
        return await endpoint_at(base_url_of(request, options))(request)

    return [Route(AGENT_CARD_WELL_KNOWN_PATH, agent_card, methods=["GET"])]


def card_at(url: str, card: AgentCard, options: ServerOptions) -> AgentCard:
    """A copy of `card` with the interfaces that a client finds at `url`."""
    copy = deepcopy(card)
    del copy.supported_interfaces[:]
    copy.supported_interfaces.extend(interfaces_at(url, options))
    return copy


def extended_card_for(
    options: ServerOptions,
) -> Callable[[AgentCard, ServerCallContext], Awaitable[AgentCard]]:
    """Answers a call for the extended card, at the address that the client used."""

    async def extended_card(card: AgentCard, call: ServerCallContext) -> AgentCard:
        if not callable(options.extended_card):
            return card
        url = call.state.get(_BASE_URL)
        if url and not _address_is_fixed(options):
            card = card_at(url, card, options)
        answer = options.extended_card(card, call)
        return await answer if inspect.isawaitable(answer) else answer

    return extended_card


def _address_is_fixed(options: ServerOptions) -> bool:
    return options.card is not None or options.public_url is not None
