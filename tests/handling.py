"""The real handler without a socket, for tests of what it decides."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from a2a.auth.user import User
from a2a.server.agent_execution import AgentExecutor
from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.events import Event as A2AEvent
from a2a.server.tasks import TaskStore
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentSkill,
    CancelTaskRequest,
    GetTaskRequest,
    SendMessageConfiguration,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk.card import jsonrpc_interface
from aion_adk.execution.executor import ADKAgentExecutor
from aion_adk.server.build import runner_for
from aion_adk.server.options import ServerOptions
from aion_adk.storage.memory import MemoryTaskStore
from aion_adk.tasks.handler import BridgeRequestHandler
from aion_adk.tasks.task_run import TaskOptions
from tests.serving import request_of

CARD = AgentCard(
    name="test",
    description="A test.",
    version="1",
    capabilities=AgentCapabilities(streaming=True, push_notifications=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    supported_interfaces=[jsonrpc_interface("http://127.0.0.1")],
    skills=[AgentSkill(id="test", name="test", description="Tests.", tags=["test"])],
)

IMMEDIATELY = SendMessageConfiguration(return_immediately=True)

Act = Callable[["Acting", InvocationContext], AsyncGenerator[Event, None]]


class Acting(BaseAgent):
    """An agent that is one function."""

    act: Act

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async for event in self.act(self, ctx):
            yield event


class NamedUser(User):
    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return bool(self._name)

    @property
    def user_name(self) -> str:
        return self._name


def call(user: str = "") -> ServerCallContext:
    return ServerCallContext(user=NamedUser(user))


def handler_of(
    agent: Act | AgentExecutor,
    *,
    task_store: TaskStore | VersionedTaskStore | None = None,
    shutdown_grace: float = 10.0,
    **parts: Any,
) -> BridgeRequestHandler:
    executor = agent if isinstance(agent, AgentExecutor) else executor_of(agent)
    options = TaskOptions(shutdown_grace=shutdown_grace)
    store = task_store or MemoryTaskStore()
    return BridgeRequestHandler(executor, store, CARD, options=options, **parts)


def executor_of(act: Act, **options: Any) -> ADKAgentExecutor:
    return ADKAgentExecutor(runner_for(Acting(name="acting", act=act), ServerOptions()), **options)


async def ask(handler: BridgeRequestHandler, text: str, *, user: str = "", **fields: Any) -> Task:
    async with asyncio.timeout(20):
        answer = await handler.on_message_send(request_of(text, **fields), call(user))
    assert isinstance(answer, Task)
    return answer


def ask_in_background(
    handler: BridgeRequestHandler, text: str, *, user: str = "", **fields: Any
) -> asyncio.Task[Task]:
    return asyncio.create_task(ask(handler, text, user=user, **fields))


async def listen(
    handler: BridgeRequestHandler, text: str, *, user: str = "", **fields: Any
) -> list[A2AEvent]:
    async with asyncio.timeout(20):
        events = handler.on_message_send_stream(request_of(text, **fields), call(user))
        return [event async for event in events]


async def subscribe(
    handler: BridgeRequestHandler, task_id: str, *, user: str = ""
) -> list[A2AEvent]:
    async with asyncio.timeout(20):
        events = handler.on_subscribe_to_task(SubscribeToTaskRequest(id=task_id), call(user))
        return [event async for event in events]


async def cancel(handler: BridgeRequestHandler, task_id: str, *, user: str = "") -> Task:
    async with asyncio.timeout(20):
        task = await handler.on_cancel_task(CancelTaskRequest(id=task_id), call(user))
    assert task is not None
    return task


async def look_up(handler: BridgeRequestHandler, task_id: str, *, user: str = "") -> Task:
    task = await handler.on_get_task(GetTaskRequest(id=task_id), call(user))
    assert task is not None
    return task


async def within(seconds: float, waiting: Awaitable[Any]) -> Any:
    async with asyncio.timeout(seconds):
        return await waiting


async def until_idle() -> None:
    """Returns when all that is left waits for a test's event, for time or for a socket."""
    # asyncio has no public name for what is ready to run.
    ready = vars(asyncio.get_running_loop())["_ready"]
    idle_turns = 0
    async with asyncio.timeout(10):
        while idle_turns < 2:  # what was due at once becomes ready a turn later
            await asyncio.sleep(0)
            idle_turns = 0 if ready else idle_turns + 1


def state_of(task: Task) -> str:
    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_")


def shape_of(event: A2AEvent) -> str:
    """An event in a word or two: its kind, its state, its text."""
    match event:
        case Task():
            return f"task {state_of(event)}"
        case TaskStatusUpdateEvent():
            return TaskState.Name(event.status.state).removeprefix("TASK_STATE_")
        case TaskArtifactUpdateEvent() if event.last_chunk and not event.artifact.parts:
            return "end"
        case TaskArtifactUpdateEvent():
            text = "".join(part.text for part in event.artifact.parts)
            return f"{'+' if event.append else '='}{text}"
        case _:
            return "message"
