"""The servers that are compared: `python -m benchmarks.peers NAME PORT` runs one of them."""

import importlib
import importlib.util
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from benchmarks.agents import Trivial, chunks_of


def aion(port: int) -> ASGIApp:
    from aion_adk import to_a2a

    url = f"http://127.0.0.1:{port}"
    return to_a2a(Trivial(name="trivial"), public_url=url, agui=True, openai=True)


def adk(port: int) -> ASGIApp:
    from google.adk.a2a.utils.agent_to_a2a import to_a2a

    return to_a2a(Trivial(name="trivial"), host="127.0.0.1", port=port)


def adk_new(port: int) -> ASGIApp:
    from google.adk.a2a.executor.a2a_agent_executor import A2aAgentExecutor
    from google.adk.a2a.utils.agent_to_a2a import to_a2a
    from google.adk.runners import Runner

    def executor(runner: Runner) -> A2aAgentExecutor:
        return A2aAgentExecutor(runner=runner, force_new_version=True)

    agent = Trivial(name="trivial")
    return to_a2a(agent, host="127.0.0.1", port=port, agent_executor_factory=executor)


def bare_sdk(port: int) -> ASGIApp:
    """a2a-sdk's default handler and store around an executor that does nothing, without ADK."""
    from a2a.server.agent_execution import AgentExecutor, RequestContext
    from a2a.server.events import EventQueue
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import (
        AgentCapabilities,
        AgentCard,
        AgentInterface,
        AgentSkill,
        Part,
        Task,
        TaskState,
        TaskStatus,
    )

    class Executor(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            task_id, context_id = context.task_id or "", context.context_id or ""
            status = TaskStatus(state=TaskState.TASK_STATE_WORKING)
            history = [context.message] if context.message else []
            task = Task(id=task_id, context_id=context_id, status=status, history=history)
            await event_queue.enqueue_event(task)
            updater = TaskUpdater(event_queue, task_id, context_id)
            command = context.get_user_input()
            whole: list[str] = []
            async for chunk in chunks_of(command):
                append = bool(whole)
                whole.append(chunk)
                parts = [Part(text=chunk)]
                await updater.add_artifact(parts, artifact_id="text", append=append)
            text = "".join(whole) or command
            await updater.complete(updater.new_agent_message([Part(text=text)]))

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
            await updater.cancel()

    interface = AgentInterface(
        url=f"http://127.0.0.1:{port}/", protocol_binding="JSONRPC", protocol_version="1.0"
    )
    card = AgentCard(
        name="trivial",
        description="Does no work of its own.",
        version="1",
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="echo", description="Echoes.", tags=["echo"])],
        capabilities=AgentCapabilities(streaming=True),
        supported_interfaces=[interface],
    )
    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
    return Starlette(routes=routes)


def adapter(port: int) -> ASGIApp:
    """a2a-adapter has no adapter for ADK: its adapter for functions drives the same Runner."""
    from benchmarks.floor import turn_events

    a2a_adapter: Any = importlib.import_module("a2a_adapter")

    async def answer(inputs: dict[str, Any]) -> AsyncIterator[str]:
        async for event in turn_events(inputs["message"], context_id=inputs["context_id"]):
            if event.partial or not inputs["message"].startswith("chunks"):
                parts = (event.content.parts or []) if event.content else []
                yield "".join(part.text or "" for part in parts)

    functions = a2a_adapter.CallableAdapter(func=answer, streaming=True)
    return a2a_adapter.to_a2a(functions, url=f"http://127.0.0.1:{port}/")


PEERS: dict[str, Callable[[int], ASGIApp]] = {
    "aion-adk": aion,
    "adk": adk,
    "adk-new": adk_new,
    "a2a-sdk": bare_sdk,
    "a2a-adapter": adapter,
}


def installed() -> list[str]:
    """The peers that can run here; a missing one is reported."""
    if importlib.util.find_spec("a2a_adapter"):
        return list(PEERS)
    print("SKIPPED a2a-adapter: not installed (`pip install --group bench`)", file=sys.stderr)
    return [name for name in PEERS if name != "a2a-adapter"]


def main(name: str, port: int) -> None:
    uvicorn.run(
        PEERS[name](port),
        host="127.0.0.1",
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
