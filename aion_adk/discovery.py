"""What a client learns of a server: the card, and what of it depends on who asks from where."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from a2a.server.context import ServerCallContext
from a2a.server.routes import create_agent_card_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, SecurityScheme
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from aion_adk.activity import ACTIVITY_EXTENSIONS
from aion_adk.address import base_url_of, host_and_port, public_base_url
from aion_adk.auth import BEARER
from aion_adk.card import Servable, build_agent_card, jsonrpc_interface, rest_interface
from aion_adk.options import ServerOptions

_LOCAL_URL = "http://127.0.0.1:8000"
_CARDS_KEPT = 64
_BASE_URL = "base_url"


class CallContexts(DefaultServerCallContextBuilder):
    """Calls over HTTP, with the address that the client used where an extended card may need it."""

    def __init__(self, options: ServerOptions) -> None:
        self._trust_proxy_headers = options.trust_proxy_headers
        self._address_matters = callable(options.extended_card)

    def build(self, request: Request) -> ServerCallContext:
        call = super().build(request)
        if self._address_matters:
            trusting = self._trust_proxy_headers
            call.state[_BASE_URL] = base_url_of(request, trust_proxy_headers=trusting)
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
        declare_security(card, options.security_schemes or BEARER)
    return card


def declare_security(card: AgentCard, schemes: Mapping[str, SecurityScheme]) -> None:
    """Any one of the schemes will do."""
    for name, scheme in schemes.items():
        card.security_schemes[name].CopyFrom(scheme)
        card.security_requirements.add().schemes[name].SetInParent()


def interfaces_at(url: str, options: ServerOptions) -> list[AgentInterface]:
    """What is served at `url`, preferred first; clients of 1.0 never reach the 0.3 entries."""
    interfaces = [jsonrpc_interface(url), rest_interface(url)]
    if options.list_grpc and options.grpc_port:
        interfaces.append(grpc_interface(url, options.grpc_port))
    if options.list_v0_3:
        interfaces += [_as_v0_3(interface) for interface in interfaces]
    return interfaces


def grpc_interface(url: str, port: int) -> AgentInterface:
    address = host_and_port(urlsplit(url).hostname or "", port)
    return AgentInterface(url=address, protocol_binding="GRPC", protocol_version="1.0")


def _as_v0_3(interface: AgentInterface) -> AgentInterface:
    return AgentInterface(
        url=interface.url, protocol_binding=interface.protocol_binding, protocol_version="0.3"
    )


def card_routes(card: AgentCard, options: ServerOptions) -> list[BaseRoute]:
    """The card, with the interfaces at the address that the client used if none is fixed."""
    fixed = _address_is_fixed(options)

    @lru_cache(maxsize=_CARDS_KEPT)
    def endpoint_at(url: str) -> Callable[[Request], Awaitable[Response]]:
        return _card_endpoint(card if fixed else card_at(url, card, options))

    async def agent_card(request: Request) -> Response:
        url = base_url_of(request, trust_proxy_headers=options.trust_proxy_headers)
        return await endpoint_at("" if fixed else url)(request)

    return [Route(AGENT_CARD_WELL_KNOWN_PATH, agent_card, methods=["GET"])]


def card_at(url: str, card: AgentCard, options: ServerOptions) -> AgentCard:
    """A copy of `card` with the interfaces that a client finds at `url`."""
    copy = AgentCard()
    copy.CopyFrom(card)
    del copy.supported_interfaces[:]
    copy.supported_interfaces.extend(interfaces_at(url, options))
    return copy


def extended_card_for(
    options: ServerOptions,
) -> Callable[[AgentCard, ServerCallContext], Awaitable[AgentCard]]:
    """Answers a call for the extended card, at the address that the client used."""

    async def extended_card(card: AgentCard, call: ServerCallContext) -> AgentCard:
        extended = options.extended_card
        if extended is None or isinstance(extended, AgentCard):
            return extended or card
        url = call.state.get(_BASE_URL)
        if url and not _address_is_fixed(options):
            card = card_at(url, card, options)
        answer = extended(card, call)
        return await answer if inspect.isawaitable(answer) else answer

    return extended_card


def _address_is_fixed(options: ServerOptions) -> bool:
    return options.card is not None or options.public_url is not None


def _card_endpoint(card: AgentCard) -> Callable[[Request], Awaitable[Response]]:
    (route,) = create_agent_card_routes(card, cache_control="public, max-age=60")
    return route.endpoint
