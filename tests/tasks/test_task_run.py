import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import SubscribeToTaskRequest, Task
from a2a.utils.errors import UnsupportedOperationError
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.events import Event
from google.adk.tools.tool_context import ToolContext

from aion_adk.context.emit import emit_message
from aion_adk.execution.executor import ADKAgentExecutor
from aion_adk.protocol.structs import to_dict
from aion_adk.protocol.task_state import TERMINAL_STATES
from aion_adk.server.build import runner_for
from aion_adk.server.options import ServerOptions
from aion_adk.tasks.handler import BridgeRequestHandler
from tests.acts import Held, asks_back, echo, user_text
from tests.handling import (
    IMMEDIATELY,
    Acting,
    ask,
    ask_in_background,
    cancel,
    executor_of,
    handler_of,
    listen,
    look_up,
    shape_of,
    state_of,
    until_idle,
)
from tests.models import ScriptedModel, call, text


class Slow(InMemoryTaskStore):
    """Stores the end of a task at once and returns late."""

    def __init__(self) -> None:
        super().__init__()
        self.stored = asyncio.Event()
        self.go = asyncio.Event()

    async def save(self, task: Task, context: ServerCallContext) -> None:
        await super().save(task, context)
        if task.status.state in TERMINAL_STATES:
            self.stored.set()
            await self.go.wait()


async def test_a_run_stopped_while_its_end_is_written_has_that_end() -> None:
    store = Slow()
    handler = handler_of(echo, task_store=store, shutdown_grace=0)
    reading = asyncio.create_task(listen(handler, "one"))
    await asyncio.wait_for(store.stored.wait(), 10)
    closing = asyncio.create_task(handler.aclose())
    await until_idle()
    store.go.set()
    await asyncio.wait_for(closing, 10)
    events = await reading
    assert [shape_of(event) for event in events] == ["task WORKING", "COMPLETED"]
    task = events[0]
    assert isinstance(task, Task)
    assert state_of(await look_up(handler, task.id)) == "COMPLETED"


async def test_a_reader_that_comes_while_an_event_is_written_sees_it_once() -> None:
    """E8"""
    store = Slow()
    handler = handler_of(echo, task_store=store)
    first = ask_in_background(handler, "one", context_id="c", message_id="m")
    await asyncio.wait_for(store.stored.wait(), 10)
    late = asyncio.create_task(listen(handler, "one", context_id="c", message_id="m"))
    await until_idle()
    store.go.set()
    assert [shape_of(event) for event in await late] == ["task COMPLETED"]
    assert state_of(await first) == "COMPLETED"


class SlowToBegin(InMemoryTaskStore):
    """Looks up and stores the task of "two" only when the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.looking, self.look = asyncio.Event(), asyncio.Event()
        self.storing, self.store = asyncio.Event(), asyncio.Event()

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        found = await super().get(task_id, context)
        self.looking.set()
        await self.look.wait()
        return found

    async def save(self, task: Task, context: ServerCallContext) -> None:
        if task.history[0].parts[0].text == "two":
            self.storing.set()
            await self.store.wait()
        await super().save(task, context)


async def test_a_task_that_begins_while_it_is_looked_for_is_the_executors() -> None:
    """A8, D3"""
    store, held = SlowToBegin(), Held()
    executor = executor_of(held.act, server_metadata={"aion:network": "x"})
    handler = handler_of(executor, task_store=store)
    one = ask_in_background(handler, "one", context_id="c")
    await held.has_begun("one")
    two = ask_in_background(handler, "two", context_id="c", configuration=IMMEDIATELY)
    await asyncio.wait_for(store.looking.wait(), 10)
    held.go.set()
    await asyncio.wait_for(store.storing.wait(), 10)
    store.look.set()
    await until_idle()
    store.store.set()
    begun = await two
    await one
    ended = await ask(handler, "two", context_id="c", message_id=begun.history[0].message_id)
    assert to_dict(ended.metadata) == {"aion:network": "x"}


async def test_a_follow_up_that_waits_is_refused_when_its_task_is_canceled() -> None:
    """A8, F3"""
    held = Held()

    async def parks_or_holds(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        act = asks_back if user_text(ctx) == "start" else held.act
        async for event in act(agent, ctx):
            yield event

    handler = handler_of(parks_or_holds)
    parked = await ask(handler, "start", context_id="c")
    running = ask_in_background(handler, "one", context_id="c")
    await held.has_begun("one")
    follow_up = ask_in_background(handler, "answer", task_id=parked.id)
    await until_idle()
    assert state_of(await cancel(handler, parked.id)) == "CANCELED"
    held.go.set()
    with pytest.raises(UnsupportedOperationError):
        await follow_up
    assert state_of(await running) == "COMPLETED"
    assert held.began == ["one"]


async def test_a_reader_of_a_parked_task_gets_it_and_then_the_next_turn() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    events = handler.on_subscribe_to_task(SubscribeToTaskRequest(id=task.id), ServerCallContext())
    async with asyncio.timeout(10):
        assert shape_of(await anext(events)) == "task INPUT_REQUIRED"
        await ask(handler, "done", task_id=task.id)
        shapes = [shape_of(event) async for event in events]
    assert (shapes[0], shapes[-1]) == ("WORKING", "COMPLETED")


async def test_a_server_that_stops_lets_the_readers_of_parked_tasks_go() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    events = handler.on_subscribe_to_task(SubscribeToTaskRequest(id=task.id), ServerCallContext())
    async with asyncio.timeout(10):
        await anext(events)
        await handler.aclose()
        assert [event async for event in events] == []


async def test_cancel_reaches_the_tool_that_runs() -> None:
    """F3"""
    entered, stopped = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Waits."""
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise
        return "never"

    handler = handler_of_tool(wait)
    task = await ask(handler, "go", configuration=IMMEDIATELY)
    await asyncio.wait_for(entered.wait(), 10)
    assert state_of(await cancel(handler, task.id)) == "CANCELED"
    await asyncio.wait_for(stopped.wait(), 10)


async def test_a_tool_that_runs_on_in_its_thread_changes_nothing_any_more() -> None:
    """F3, E1"""
    entered, release, left = threading.Event(), threading.Event(), threading.Event()

    def block(tool_context: ToolContext) -> str:
        """Blocks."""
        entered.set()
        release.wait(10)
        emit_message(tool_context, "too late")
        left.set()
        return "late"

    handler = handler_of_tool(block)
    task = await ask(handler, "go", configuration=IMMEDIATELY)
    assert await asyncio.to_thread(entered.wait, 10)
    canceled = await cancel(handler, task.id)
    release.set()
    assert await asyncio.to_thread(left.wait, 10)
    await until_idle()
    assert await look_up(handler, task.id) == canceled
    assert "too late" not in str(canceled)


def handler_of_tool(tool: Callable[..., Any]) -> BridgeRequestHandler:
    model = ScriptedModel(steps=[[call(tool.__name__, call_id="1")], [text("ok")]])
    agent = LlmAgent(name="agent", model=model, tools=[tool])
    return handler_of(ADKAgentExecutor(runner_for(agent, ServerOptions())))
