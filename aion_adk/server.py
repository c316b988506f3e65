"""Serves an agent over A2A: wiring only."""

import functools
from typing import Unpack

import uvicorn
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.types import AgentCard
from google.adk.apps import App
from google.adk.artifacts import InMemoryArtifactService
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Route

from aion_adk.address import host_and_port
from aion_adk.app import A2AApp, Beside, closing_of
from aion_adk.auth import UNAUTHENTICATED, Authentication
from aion_adk.card import Servable
from aion_adk.discovery import CallContexts, card_of, card_routes, extended_card_for
from aion_adk.endpoints.conversations import CONTEXT_HEADER, TASK_HEADER, FrontEndCalls
from aion_adk.endpoints.errors import unauthenticated
from aion_adk.endpoints.openai import ChatEndpoint
from aion_adk.endpoints.responses import ResponsesEndpoint
from aion_adk.errors import LoadError
from aion_adk.executor import ADKAgentExecutor
from aion_adk.extensions import ExtensionHeaders
from aion_adk.guarded_handler import GuardedHandler
from aion_adk.handler import BridgeRequestHandler
from aion_adk.heartbeat import Heartbeats
from aion_adk.limit import RequestLimit
from aion_adk.options import OptionKeywords, ServerOptions
from aion_adk.rpc import JsonRpc
from aion_adk.services import services_for


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
    """Serves `agent` until the process is told to stop; takes the options of `to_a2a`.

    gRPC listens on `host` too, unless `grpc_host` says otherwise.
    """
    options.setdefault("grpc_host", host)
    served = ServerOptions(**options)
    uvicorn.run(
        app_of(agent, served),
        host=host,
        port=port,
        timeout_graceful_shutdown=served.seconds_to_stop,
    )


def app_of(agent: Servable, options: ServerOptions) -> A2AApp:
    services = services_for(options, app_name=app_name_of(agent))
    runner = runner_for(agent, options, sessions=services.sessions)
    card = card_of(agent, options)
    handler = BridgeRequestHandler(
        executor_for(runner, options),
        services.tasks,
        card,
        push=services.push,
        extended_agent_card=card if options.extended_card else None,
        extended_card_modifier=extended_card_for(options),
        final_task=options.final_task,
        durable=services.durable,
        shutdown_grace=options.shutdown_grace,
    )
    gate = GuardedHandler(handler, extensions=card.capabilities.extensions)
    return A2AApp(
        card=card,
        routes=[
            jsonrpc_route(gate, options),
            *card_routes(card, options),
            *front_end_routes(handler, card, options, agent_name=app_name_of(agent)),
            *rest_routes(gate, options),
        ],
        middleware=[
            *cors(options),
            Middleware(ExtensionHeaders, declared=card.capabilities.extensions),
            Middleware(Heartbeats, seconds=options.heartbeat),
            *authentication_of(options),
            Middleware(RequestLimit, most_bytes=options.max_request_bytes),
        ],
        grpc=grpc_beside(gate, card, options),
        open=services.open,
        begin_shutdown=handler.begin_shutdown,
        closing=[
            ("the request handler", handler.aclose),
            ("the runner", runner.close),
            *closing_of(runner.agent, stores=[services.tasks, runner.session_service]),
            ("the database", services.aclose),
        ],
    )


def runner_for(
    agent: Servable, options: ServerOptions, *, sessions: BaseSessionService | None = None
) -> Runner:
    """The given runner, or one with the services of the options."""
    if isinstance(agent, Runner):
        return agent
    app = agent if isinstance(agent, App) else App(name=agent.name, root_agent=agent)
    return Runner(
        app=app,
        session_service=sessions or options.session_service or InMemorySessionService(),
        artifact_service=options.artifact_service or InMemoryArtifactService(),
        memory_service=options.memory_service or InMemoryMemoryService(),
    )


def app_name_of(agent: Servable) -> str:
    return agent.app_name if isinstance(agent, Runner) else agent.name


def executor_for(runner: Runner, options: ServerOptions) -> ADKAgentExecutor:
    return ADKAgentExecutor(
        runner,
        user_id=options.user_id,
        run_config=options.run_config,
        run_timeout=options.run_timeout,
        native_content=options.native_content,
        reply_as=options.reply_as,
        server_metadata=options.server_metadata,
        canonical_types=options.canonical_types,
        tool_activity=options.tool_activity,
        thoughts=options.thoughts,
        direct_messages=options.direct_messages,
    )


def jsonrpc_route(handler: GuardedHandler, options: ServerOptions) -> BaseRoute:
    calls = CallContexts(options)
    (others,) = create_jsonrpc_routes(
        handler,
        "/",
        context_builder=calls,
        enable_v0_3_compat=True,
        # Streams end with their runs; cut off earlier, they would end without a terminal event.
        shutdown_grace_period=options.seconds_to_stop,
    )
    return Route("/", JsonRpc(handler, calls, others=others.endpoint).answer, methods=["POST"])


def rest_routes(handler: RequestHandler, options: ServerOptions) -> list[BaseRoute]:
    return create_rest_routes(
        handler,
        context_builder=CallContexts(options),
        enable_v0_3_compat=True,
        shutdown_grace_period=options.seconds_to_stop,
    )


def front_end_routes(
    handler: BridgeRequestHandler, card: AgentCard, options: ServerOptions, *, agent_name: str
) -> list[BaseRoute]:
    """Routes for clients of other protocols, before those of REST, which take every path."""
    # Clients of other protocols cannot activate extensions, so none is required of them.
    calls = FrontEndCalls(GuardedHandler(handler, extensions=()), CallContexts(options))
    routes: list[BaseRoute] = []
    if options.agui:
        from aion_adk.endpoints.agui import AGUIEndpoint  # needs the extra `agui`

        routes += AGUIEndpoint(calls, card, agent_name=agent_name).routes()
    if options.openai:
        routes += ChatEndpoint(calls, model=agent_name).routes()
        routes += ResponsesEndpoint(calls, model=agent_name).routes()
    return routes


def cors(options: ServerOptions) -> list[Middleware]:
    if not options.cors_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(options.cors_origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=[CONTEXT_HEADER, TASK_HEADER],
        )
    ]


def grpc_beside(handler: RequestHandler, card: AgentCard, options: ServerOptions) -> Beside | None:
    if options.grpc_port is None:
        return None
    try:
        from aion_adk.grpc_server import grpc_serving
    except ImportError as error:
        raise LoadError("grpc_port needs gRPC: install aion-adk[grpc]") from error
    return functools.partial(
        grpc_serving,
        handler,
        address=host_and_port(options.grpc_host, options.grpc_port),
        extensions=card.capabilities.extensions,
        authenticate=options.authenticate,
        max_request_bytes=options.max_request_bytes,
    )


def authentication_of(options: ServerOptions) -> list[Middleware]:
    if options.authenticate is None:
        return []
    refusals = {"/v1/": unauthenticated(UNAUTHENTICATED)} if options.openai else {}
    return [
        Middleware(Authentication, authenticate=options.authenticate, refusals=refusals),
    ]
