"""Serves an agent over A2A: wiring only."""

import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import lru_cache
from typing import Any, Unpack

import uvicorn
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.types import AgentCard, AgentInterface
from google.adk.apps import App, ResumabilityConfig
from google.adk.artifacts import InMemoryArtifactService
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aion_adk.address import base_url_of, public_base_url
from aion_adk.card import Servable, build_agent_card, jsonrpc_interface, nodes_of, rest_interface
from aion_adk.executor import ADKAgentExecutor
from aion_adk.handler import BridgeRequestHandler
from aion_adk.options import OptionKeywords, ServerOptions
from aion_adk.store import MemoryTaskStore

logger = logging.getLogger(__name__)

Close = Callable[[], Awaitable[None]]

_LOCAL_URL = "http://127.0.0.1:8000"
_CARD_PATH = "/.well-known/agent-card.json"
_CARDS_KEPT = 64


class A2AApp(Starlette):
    """The ASGI app of one agent. It can be mounted under any prefix of another app.

    A server runs the lifespan of the app it is given, not those of mounted ones: enter
    `running()` in the outer app's lifespan, or await `aclose()` at its end.
    """

    def __init__(
        self, *, card: AgentCard, routes: list[BaseRoute], closing: list[tuple[str, Close]]
    ) -> None:
        super().__init__(routes=routes, lifespan=lambda _: self.running())
        self.router.redirect_slashes = False
        self.card = card
        self._closing = closing

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        """Serves inside the block, and closes what the agent holds after it."""
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Ends running tasks, then closes the runner, its toolsets, the agents and the stores."""
        while self._closing:
            name, close = self._closing.pop(0)
            try:
                await close()
            except Exception:
                logger.exception("closing %s failed", name)

    def mounted(self, prefix: str) -> list[BaseRoute]:
        """Routes that serve this app under `prefix`, with and without a slash at its end."""
        prefix = f"/{prefix.strip('/')}"
        return [Route(prefix, _AtPrefix(self, prefix)), Mount(prefix, self)]


def to_a2a(agent: Servable, **options: Unpack[OptionKeywords]) -> A2AApp:
    """An ASGI app that serves `agent` over A2A; see `ServerOptions` for the options."""
    return app_of(agent, ServerOptions(**options))


def serve(
    agent: Servable,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    **options: Unpack[OptionKeywords],
) -> None:
    """Serves `agent` until the process is told to stop; takes the options of `to_a2a`."""
    uvicorn.run(to_a2a(agent, **options), host=host, port=port)


def app_of(agent: Servable, options: ServerOptions) -> A2AApp:
    runner = runner_for(agent, options)
    store = options.task_store or MemoryTaskStore()
    card = card_of(agent, options)
    handler = BridgeRequestHandler(
        executor_for(runner, options), store, card, final_task=options.final_task
    )
    return A2AApp(
        card=card,
        routes=[*card_routes(card, options), *protocol_routes(handler, options)],
        closing=[
            ("the request handler", handler.aclose),
            ("the runner", runner.close),
            *closing_of(agents=runner.agent, stores=[store, runner.session_service]),
        ],
    )


def runner_for(agent: Servable, options: ServerOptions) -> Runner:
    """The given runner, or one with in-memory services and pauses that can be resumed."""
    if isinstance(agent, Runner):
        return agent
    app = agent if isinstance(agent, App) else App(name=agent.name, root_agent=agent)
    if app.resumability_config is None:
        resumable = ResumabilityConfig(is_resumable=True)
        app = app.model_copy(update={"resumability_config": resumable})
    return Runner(
        app=app,
        session_service=options.session_service or InMemorySessionService(),
        artifact_service=options.artifact_service or InMemoryArtifactService(),
        memory_service=options.memory_service or InMemoryMemoryService(),
    )


def executor_for(runner: Runner, options: ServerOptions) -> ADKAgentExecutor:
    return ADKAgentExecutor(
        runner,
        user_id=options.user_id,
        run_config=options.run_config,
        run_timeout=options.run_timeout,
        native_content=options.native_content,
        reply_as=options.reply_as,
        server_metadata=options.server_metadata,
        tool_activity=options.tool_activity,
        thoughts=options.thoughts,
    )


def card_of(agent: Servable, options: ServerOptions) -> AgentCard:
    """The given card, or one built from the agent for its public address."""
    if options.card is not None:
        return options.card
    url = public_base_url(options.public_url) if options.public_url else _LOCAL_URL
    return build_agent_card(agent, url=url, interfaces=interfaces_at(url, options))


def interfaces_at(url: str, options: ServerOptions) -> list[AgentInterface]:
    """What is served at `url`, preferred first."""
    return [jsonrpc_interface(url), rest_interface(url)]


def protocol_routes(handler: BridgeRequestHandler, options: ServerOptions) -> list[BaseRoute]:
    return [
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]


def card_routes(card: AgentCard, options: ServerOptions) -> list[BaseRoute]:
    """The card, with the interfaces at the address that the client used if none is fixed."""
    fixed = options.card is not None or options.public_url is not None

    @lru_cache(maxsize=_CARDS_KEPT)
    def endpoint_at(url: str) -> Callable[[Request], Awaitable[Response]]:
        return _card_endpoint(card if fixed else card_at(url, card, options))

    async def agent_card(request: Request) -> Response:
        url = base_url_of(request, trust_proxy_headers=options.trust_proxy_headers)
        return await endpoint_at("" if fixed else url)(request)

    return [Route(_CARD_PATH, agent_card, methods=["GET"])]


def card_at(url: str, card: AgentCard, options: ServerOptions) -> AgentCard:
    """A copy of `card` with the interfaces that a client finds at `url`."""
    copy = AgentCard()
    copy.CopyFrom(card)
    del copy.supported_interfaces[:]
    copy.supported_interfaces.extend(interfaces_at(url, options))
    return copy


def _card_endpoint(card: AgentCard) -> Callable[[Request], Awaitable[Response]]:
    (route,) = create_agent_card_routes(card, cache_control="public, max-age=60")
    return route.endpoint


def closing_of(*, agents: Any, stores: list[Any]) -> list[tuple[str, Close]]:
    """How to close what `Runner.close()` leaves open: agents with `aclose`, and the stores."""
    nodes = [node for node, _ in nodes_of(agents)] if agents else []
    closing = [(node.name, getattr(node, "aclose", None)) for node in nodes]
    closing += [
        (type(store).__name__, getattr(store, "aclose", None) or getattr(store, "close", None))
        for store in stores
    ]
    return [(name, close) for name, close in closing if close]


class _AtPrefix:
    """Serves a mounted app's root at the prefix itself, where Starlette would redirect."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root_path = f"{scope.get('root_path', '')}{self._prefix}"
        await self._app(
            {**scope, "root_path": root_path, "path": f"{scope['path']}/"}, receive, send
        )
