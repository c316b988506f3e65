"""Serves an agent over A2A: wiring only."""

import contextlib
from collections.abc import AsyncGenerator
from typing import Literal

import uvicorn
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import TaskStore
from a2a.types import AgentCard
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App, ResumabilityConfig
from google.adk.artifacts import InMemoryArtifactService
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from starlette.applications import Starlette

from aion_adk.card import Servable, build_agent_card
from aion_adk.executor import ADKAgentExecutor, ServerMetadata
from aion_adk.handler import BridgeRequestHandler
from aion_adk.identity import UserIdResolver
from aion_adk.store import MemoryTaskStore


def to_a2a(
    agent: Servable,
    *,
    card: AgentCard | None = None,
    public_url: str | None = None,
    task_store: TaskStore | None = None,
    session_service: BaseSessionService | None = None,
    user_id: UserIdResolver | None = None,
    run_config: RunConfig | None = None,
    run_timeout: float | None = None,
    native_content: Literal["fallback", "buffer"] = "fallback",
    reply_as: Literal["message", "artifact"] = "message",
    server_metadata: ServerMetadata | None = None,
    final_task: bool = False,
) -> Starlette:
    """An ASGI app that serves `agent` over A2A; it can be mounted under any prefix."""
    runner = runner_for(agent, session_service=session_service)
    executor = ADKAgentExecutor(
        runner,
        user_id=user_id,
        run_config=run_config,
        run_timeout=run_timeout,
        native_content=native_content,
        reply_as=reply_as,
        server_metadata=server_metadata,
    )
    card = card or build_agent_card(agent, url=public_url or "http://127.0.0.1:8000")
    handler = BridgeRequestHandler(
        executor, task_store or MemoryTaskStore(), card, final_task=final_task
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        yield
        await handler.aclose()
        await runner.close()

    routes = [
        *create_agent_card_routes(card, cache_control="public, max-age=60"),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def serve(agent: Servable, *, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serves `agent` until the process is told to stop."""
    app = to_a2a(agent, public_url=f"http://{host}:{port}")
    uvicorn.run(app, host=host, port=port)


def runner_for(agent: Servable, *, session_service: BaseSessionService | None = None) -> Runner:
    """The given runner, or one with in-memory services and pauses that can be resumed."""
    if isinstance(agent, Runner):
        return agent
    app = agent if isinstance(agent, App) else App(name=agent.name, root_agent=agent)
    if app.resumability_config is None:
        resumable = ResumabilityConfig(is_resumable=True)
        app = app.model_copy(update={"resumability_config": resumable})
    return Runner(
        app=app,
        session_service=session_service or InMemorySessionService(),
        artifact_service=InMemoryArtifactService(),
        memory_service=InMemoryMemoryService(),
    )
