"""Builds the server of an agent."""

import functools
from typing import TYPE_CHECKING, Unpack

import uvicorn
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.types import AgentCard
from google.adk.apps import App
from google.adk.artifacts import InMemoryArtifactService
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Route

from aion_adk.card import Servable
from aion_adk.errors import LoadError
from aion_adk.execution.executor import ADKAgentExecutor
from aion_adk.front_ends.conversations import (
    CONTEXT_HEADER,
    TASK_HEADER,
    FrontEndCalls,
    unauthenticated,
)
from aion_adk.front_ends.jsonrpc import JsonRpc
from aion_adk.front_ends.openai_chat.endpoint import ChatEndpoint
from aion_adk.front_ends.openai_responses.endpoint import ResponsesEndpoint
from aion_adk.server.app import A2AApp, ServeGrpc, closing_of
from aion_adk.server.authentication import UNAUTHENTICATED, Authentication
from aion_adk.server.card_routes import (
    AddressedCallContexts,
    card_of,
    card_routes,
    extended_card_for,
    host_and_port,
)
from aion_adk.server.middleware import ExtensionHeaders, Heartbeats, RequestLimit
from aion_adk.server.options import OptionKeywords, ServerOptions
from aion_adk.storage.memory import MemoryPushConfigs, MemoryTaskStore
from aion_adk.tasks.guarded_handler import GuardedHandler
from aion_adk.tasks.handler import BridgeRequestHandler
from aion_adk.tasks.push import PushDelivery

if TYPE_CHECKING:
    from aion_adk.storage.database import Database


def to_a2a(agent: Servable, **options: Unpack[OptionKeywords]) -> A2AApp:
    """An ASGI app that serves `agent` over A2A; see `ServerOptions` for the options."""
    return app_of(agent, ServerOptions(**options))


def serve(
    agent: Servable, *, host: str = "127.0.0.1", port: int = 8000, **options: Unpack[OptionKeywords]
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
    if not isinstance(agent, Servable):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        raise TypeError(f"expected an agent, a workflow, an App or a Runner, got {agent!r}")
    name, url = app_name_of(agent), options.database_url
    database = None if url is None else database_at(url, app_name=name)
    tasks = options.task_store or (database.tasks if database else MemoryTaskStore())
    runner = runner_for(agent, options, database)
    card = card_of(agent, options)
    handler = BridgeRequestHandler(
        ADKAgentExecutor(runner, options),
        tasks,
        card,
        options=options,
        push=push_for(options, database),
        extended_agent_card=card if callable(options.extended_card) else options.extended_card,
        extended_card_modifier=extended_card_for(options),
        # The server's own database outlives it, and no other process runs tasks on it.
        durable=database is not None and options.task_store is None,
    )
    guarded = GuardedHandler(handler, extensions=card.capabilities.extensions)
    jsonrpc, *rest = a2a_routes(guarded, options)
    # Clients of other protocols cannot activate extensions, so none is required of them.
    calls = FrontEndCalls(GuardedHandler(handler, extensions=()))
    return A2AApp(
        card=card,
        routes=[
            jsonrpc,
            *card_routes(card, options),
            *front_end_routes(calls, card, options, agent_name=name),
            *rest,
        ],
        middleware=middleware_for(card, options),
        grpc=grpc_for(guarded, card, options),
        open=database.open if database else None,
        begin_shutdown=handler.begin_shutdown,
        closing=[
            ("the front ends", calls.aclose),
            ("the request handler", handler.aclose),
            ("the runner", runner.close),
            *closing_of(runner.agent, stores=[tasks, runner.session_service]),
            *([("the database", database.aclose)] if database else []),
        ],
    )


def app_name_of(agent: Servable) -> str:
    return agent.app_name if isinstance(agent, Runner) else agent.name


def database_at(url: str, *, app_name: str) -> "Database":
    scheme = url.split(":", 1)[0]
    extra = "sqlite" if scheme.startswith("sqlite") else "postgresql"
    try:
        from aion_adk.storage.database import Database

        return Database(url, app_name=app_name)
    except ImportError as error:
        raise LoadError(f"database_url {scheme}: install aion-adk[{extra}]") from error


def runner_for(
    agent: Servable, options: ServerOptions, database: "Database | None" = None
) -> Runner:
    """The given runner, or one with the services of the options."""
    if isinstance(agent, Runner):
        return agent
    app = agent if isinstance(agent, App) else App(name=agent.name, root_agent=agent)
    sessions = database.sessions if database else InMemorySessionService()
    return Runner(
        app=app,
        session_service=options.session_service or sessions,
        artifact_service=options.artifact_service or InMemoryArtifactService(),
        memory_service=options.memory_service or InMemoryMemoryService(),
    )


def push_for(options: ServerOptions, database: "Database | None") -> PushDelivery | None:
    if not options.push_notifications:
        return None
    configs = database.push_configs if database else MemoryPushConfigs()
    return PushDelivery(configs, private_urls=options.push_private_urls)


def a2a_routes(handler: GuardedHandler, options: ServerOptions) -> list[BaseRoute]:
    """The route of JSON-RPC, then those of REST, which take every path."""
    # Only an extended card that is made for a call may need the address.
    contexts = AddressedCallContexts(options) if callable(options.extended_card) else None
    # Streams end with their runs; cut off earlier, they would end without a terminal event.
    grace = options.seconds_to_stop
    (jsonrpc,) = create_jsonrpc_routes(
        handler, "/", context_builder=contexts, enable_v0_3_compat=True, shutdown_grace_period=grace
    )
    rest = create_rest_routes(
        handler, context_builder=contexts, enable_v0_3_compat=True, shutdown_grace_period=grace
    )
    own = JsonRpc(handler, others=jsonrpc.endpoint)
    return [Route("/", own.answer, methods=["POST"]), *rest]


def front_end_routes(
    calls: FrontEndCalls, card: AgentCard, options: ServerOptions, *, agent_name: str
) -> list[BaseRoute]:
    """Routes for clients of other protocols."""
    routes: list[BaseRoute] = []
    if options.agui:
        from aion_adk.front_ends.agui.endpoint import AGUIEndpoint  # needs the extra `agui`

        routes += AGUIEndpoint(calls, card, agent_name=agent_name).routes()
    if options.openai:
        routes += ChatEndpoint(calls, model=agent_name).routes()
        routes += ResponsesEndpoint(calls, model=agent_name).routes()
    return routes


def middleware_for(card: AgentCard, options: ServerOptions) -> list[Middleware]:
    middleware = [
        Middleware(ExtensionHeaders, declared=card.capabilities.extensions),
        Middleware(Heartbeats, seconds=options.heartbeat),
    ]
    if options.cors_origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=list(options.cors_origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=[CONTEXT_HEADER, TASK_HEADER],
        )
        middleware = [cors, *middleware]
    if authenticate := options.authenticate:
        refusals = {"/v1/": unauthenticated(UNAUTHENTICATED)} if options.openai else {}
        middleware.append(Middleware(Authentication, authenticate=authenticate, refusals=refusals))
    return [*middleware, Middleware(RequestLimit, max_bytes=options.max_request_bytes)]


def grpc_for(handler: RequestHandler, card: AgentCard, options: ServerOptions) -> ServeGrpc | None:
    if options.grpc_port is None:
        return None
    try:
        from aion_adk.server.grpc_server import grpc_serving
    except ImportError as error:
        raise LoadError("grpc_port needs gRPC: install aion-adk[grpc]") from error
    address = host_and_port(options.grpc_host, options.grpc_port)
    return functools.partial(grpc_serving, handler, card, options, address=address)
