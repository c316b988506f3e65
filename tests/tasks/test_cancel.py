import asyncio
import gc
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Task
from a2a.utils.errors import TaskNotCancelableError, UnsupportedOperationError
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from tests.acts import Held, asks_back
from tests.agents import text_event
from tests.handling import (
    IMMEDIATELY,
    Acting,
    ask,
    ask_in_background,
    call,
    cancel,
    handler_of,
    look_up,
    shape_of,
    state_of,
    subscribe,
    until_idle,
    within,
)
from tests.serving import request_of


async def test_cancel_stops_the_agent_closes_the_text_and_ends_the_task_once() -> None:
    """F3"""
    held = Held()
    handler = handler_of(held.act)
    sibling = ask_in_background(handler, "sibling", context_id="d")
    events: list[str] = []

    async def read() -> None:
        request = request_of("one", context_id="c")
        async for event in handler.on_message_send_stream(request, call()):
            events.append(shape_of(event))
            if isinstance(event, Task):
                task_ids.append(event.id)

    task_ids: list[str] = []
    reader = asyncio.create_task(read())
    await held.has_begun("one", "sibling")
    assert state_of(await cancel(handler, task_ids[0])) == "CANCELED"
    await asyncio.wait_for(reader, 5)
    assert events[-2:] == ["end", "CANCELED"]
    assert events.count("CANCELED") == 1
    assert held.stopped == ["one"]
    with pytest.raises(TaskNotCancelableError):
        await cancel(handler, task_ids[0])
    held.go.set()
    assert state_of(await sibling) == "COMPLETED"


async def test_a_caller_that_leaves_while_it_cancels_does_not_leave_its_task_at_work() -> None:
    """F3, E1"""
    begun, canceled, go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow_to_stop(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            begun.set()
            await asyncio.Event().wait()
            yield text_event(agent, ctx, "never")
        finally:
            canceled.set()
            await go.wait()

    handler = handler_of(slow_to_stop)
    task = await ask(handler, "one", context_id="c", message_id="m", configuration=IMMEDIATELY)
    waiting = ask_in_background(handler, "one", context_id="c", message_id="m")
    await within(5, begun.wait())
    caller = asyncio.create_task(cancel(handler, task.id))
    await within(5, canceled.wait())
    caller.cancel()
    await asyncio.wait({caller})
    with pytest.raises(TaskNotCancelableError):
        await cancel(handler, task.id)
    go.set()
    assert state_of(await within(5, waiting)) == "CANCELED"


async def test_a_parked_task_can_be_canceled_and_then_takes_no_message() -> None:
    """F3"""
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    assert state_of(task) == "INPUT_REQUIRED"
    assert state_of(await cancel(handler, task.id)) == "CANCELED"
    with pytest.raises(UnsupportedOperationError):
        await ask(handler, "done", task_id=task.id)


class Stubborn(AgentExecutor):
    """Ignores its cancellation and completes its task."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.go = asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        await updater.start_work()
        self.began.set()
        while not self.go.is_set():
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await asyncio.Event().wait()


async def test_an_executor_that_ignores_its_cancellation_ends_canceled_and_blocks_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F3"""
    monkeypatch.setattr("aion_adk.timeouts.SECONDS_TO_END_RUN", 0.05)
    executor = Stubborn()
    handler = handler_of(executor)
    task = await ask(handler, "one", context_id="c", configuration=IMMEDIATELY)
    await within(5, executor.began.wait())
    assert state_of(await cancel(handler, task.id)) == "CANCELED"
    executor.began.clear()
    following = ask_in_background(handler, "two", context_id="c")
    await within(5, executor.began.wait())
    executor.go.set()
    assert state_of(await within(5, following)) == "FAILED"
    assert state_of(await look_up(handler, task.id)) == "CANCELED"


async def stubborn(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield text_event(agent, ctx, "a", partial=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        yield text_event(agent, ctx, "I go on")


async def test_text_that_an_agent_yields_after_its_cancellation_is_dropped() -> None:
    """F3"""
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    handler = handler_of(stubborn)
    task = await ask(handler, "one", context_id="c", configuration=IMMEDIATELY)
    canceled = await cancel(handler, task.id)
    assert state_of(canceled) == "CANCELED"
    assert "I go on" not in str(canceled)
    gc.collect()
    assert unhandled == []


class SlowToCancel(AgentExecutor):
    """Stops at once, and takes its time to clean up."""

    def __init__(self) -> None:
        self.began, self.canceling, self.go = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.runs = 0

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.runs += 1
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        await updater.start_work()
        self.began.set()
        await asyncio.Event().wait()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.canceling.set()
        await self.go.wait()


@pytest.mark.parametrize("durable", [False, True])
async def test_a_task_is_at_work_until_its_cancellation_has_ended(durable: bool) -> None:
    """F3"""
    executor = SlowToCancel()
    handler = handler_of(executor, durable=durable, shutdown_grace=0)
    task = await ask(handler, "one", context_id="c", configuration=IMMEDIATELY)
    await within(5, executor.began.wait())
    canceling = asyncio.create_task(cancel(handler, task.id))
    await within(5, executor.canceling.wait())
    assert state_of(await look_up(handler, task.id)) == "WORKING"
    reader = asyncio.create_task(subscribe(handler, task.id))
    following = ask_in_background(handler, "two", context_id="c")
    with pytest.raises(TaskNotCancelableError, match="is being canceled already"):
        await cancel(handler, task.id)
    await until_idle()
    assert executor.runs == 1
    executor.began.clear()
    executor.go.set()
    assert state_of(await within(5, canceling)) == "CANCELED"
    assert [shape_of(event) for event in await within(5, reader)] == ["task WORKING", "CANCELED"]
    await within(5, executor.began.wait())
    await within(5, handler.aclose())
    assert state_of(await look_up(handler, task.id)) == "CANCELED"
    assert state_of(await within(5, following)) == "FAILED"
    assert executor.runs == 2
