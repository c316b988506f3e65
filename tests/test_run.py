import asyncio
from collections.abc import AsyncGenerator

import pytest
from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import Task
from a2a.utils.errors import UnsupportedOperationError
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk.snapshot import TERMINAL_STATES
from tests.handling import (
    Acting,
    ask,
    asking,
    cancel,
    handler_of,
    listen,
    look_up,
    shape_of,
    state_of,
    subscribe,
)
from tests.test_handler import Held, asked, asks_back, echo


class Slow(InMemoryTaskStore):
    """Stores the end of a task at once and says so late."""

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
    await asyncio.sleep(0.01)
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
    first = asking(handler, "one", context_id="c", message_id="m")
    await asyncio.wait_for(store.stored.wait(), 10)
    late = asyncio.create_task(listen(handler, "one", context_id="c", message_id="m"))
    await asyncio.sleep(0.01)
    store.go.set()
    assert [shape_of(event) for event in await late] == ["task COMPLETED"]
    assert state_of(await first) == "COMPLETED"


async def test_a_follow_up_that_waits_is_refused_when_its_task_is_canceled() -> None:
    """A8, F3"""
    held = Held()

    async def parks_or_holds(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        act = asks_back if asked(ctx) == "start" else held.act
        async for event in act(agent, ctx):
            yield event

    handler = handler_of(parks_or_holds)
    parked = await ask(handler, "start", context_id="c")
    running = asking(handler, "one", context_id="c")
    await held.has_begun("one")
    follow_up = asking(handler, "answer", task_id=parked.id)
    await asyncio.sleep(0)
    assert state_of(await cancel(handler, parked.id)) == "CANCELED"
    held.go.set()
    with pytest.raises(UnsupportedOperationError):
        await follow_up
    assert state_of(await running) == "COMPLETED"
    assert held.began == ["one"]


async def test_a_reader_of_a_parked_task_gets_it_and_the_stream_ends() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    assert [shape_of(event) for event in await subscribe(handler, task.id)] == [
        "task INPUT_REQUIRED"
    ]
