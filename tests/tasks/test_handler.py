import asyncio
import copy

import pytest
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, Role, Task, TaskState
from a2a.utils.errors import (
    InternalError,
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from aion_adk.protocol.task_state import TERMINAL_STATES
from aion_adk.storage.memory import MemoryTaskStore
from tests.acts import Held, asks_back, echo
from tests.handling import (
    IMMEDIATELY,
    ask,
    ask_in_background,
    call,
    cancel,
    executor_of,
    handler_of,
    listen,
    look_up,
    shape_of,
    state_of,
    subscribe,
    until_idle,
    within,
)
from tests.serving import reply_of


async def test_a_caller_that_leaves_does_not_stop_its_run() -> None:
    """E8"""
    held = Held()
    handler = handler_of(held.act)
    caller = ask_in_background(handler, "one", context_id="c", message_id="m")
    await held.has_begun("one")
    caller.cancel()
    await asyncio.wait({caller})
    held.go.set()
    task = await ask(handler, "one", context_id="c", message_id="m")
    assert (state_of(task), reply_of(task), held.stopped) == ("COMPLETED", "abc", [])


async def test_a_late_reader_gets_the_task_then_all_the_text_and_no_chunk_twice() -> None:
    """E8, E2"""
    held = Held()
    handler = handler_of(held.act)
    early = asyncio.create_task(listen(handler, "one", context_id="c"))
    await held.has_begun("one")
    task = await ask(handler, "two", context_id="other", configuration=IMMEDIATELY)
    await held.has_begun("two")
    late = asyncio.create_task(subscribe(handler, task.id))
    await until_idle()
    held.go.set()
    assert [shape_of(event) for event in await late] == [
        "task WORKING",
        "=ab",
        "+c",
        "end",
        "COMPLETED",
    ]
    shapes = [shape_of(event) for event in await early]
    assert shapes[0] == "task WORKING"
    assert "".join(shape[1:] for shape in shapes if shape[0] in "=+") == "abc"
    assert shapes[-2:] == ["end", "COMPLETED"]


async def test_a_follow_up_that_names_only_the_task_continues_in_its_context() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start", context_id="c")
    done = await ask(handler, "done", task_id=task.id)
    assert (done.id, done.context_id, state_of(done)) == (task.id, "c", "COMPLETED")
    user_texts = [m.parts[0].text for m in done.history if m.role == Role.ROLE_USER]
    assert user_texts == ["start", "done"]


async def test_a_message_to_a_finished_task_is_refused() -> None:
    handler = handler_of(echo)
    task = await ask(handler, "one", context_id="c")
    with pytest.raises(UnsupportedOperationError):
        await ask(handler, "two", task_id=task.id)
    assert await look_up(handler, task.id) == task


async def test_a_message_that_names_a_task_of_another_context_is_refused() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start", context_id="c")
    with pytest.raises(InvalidParamsError):
        await ask(handler, "done", task_id=task.id, context_id="d")
    with pytest.raises(TaskNotFoundError):
        await ask(handler, "done", task_id="unknown", context_id="c")


async def test_a_task_does_not_exist_for_another_owner() -> None:
    held = Held()
    handler = handler_of(held.act)
    task = await ask(handler, "one", context_id="c", user="ann", configuration=IMMEDIATELY)
    for attempt in (
        look_up(handler, task.id, user="bob"),
        cancel(handler, task.id, user="bob"),
        subscribe(handler, task.id, user="bob"),
        ask(handler, "mine now", task_id=task.id, user="bob"),
    ):
        with pytest.raises(TaskNotFoundError):
            await attempt
    held.go.set()
    assert state_of(await ask(handler, "more", context_id="c", user="ann")) == "COMPLETED"


async def test_a_parked_task_holds_no_coroutine() -> None:
    handler = handler_of(asks_back)
    before = asyncio.all_tasks()
    tasks = await asyncio.gather(*(ask(handler, "start") for _ in range(20)))
    assert {state_of(task) for task in tasks} == {"INPUT_REQUIRED"}
    await until_idle()
    assert asyncio.all_tasks() <= before


async def test_a_task_ended_by_another_writer_stays_as_it_is() -> None:
    held = Held()
    store = MemoryTaskStore()
    handler = handler_of(held.act, task_store=store)
    caller = asyncio.create_task(listen(handler, "one", context_id="c", message_id="m"))
    await held.has_begun("one")
    (task,) = (await store.list(ListTasksRequest(), call())).tasks
    ended = copy.deepcopy(task)
    ended.status.state = TaskState.TASK_STATE_REJECTED
    await store.save(ended, call())
    held.go.set()
    assert shape_of((await caller)[-1]) == "REJECTED"
    assert await look_up(handler, task.id) == ended


class Failing(MemoryTaskStore):
    """Cannot write the end of a task."""

    async def save(self, task: Task, context: ServerCallContext) -> None:
        if task.status.state in TERMINAL_STATES:
            raise OSError("disk full at /var/secret")
        await super().save(task, context)


async def test_a_task_that_cannot_be_saved_ends_its_callers_with_an_error_id() -> None:
    handler = handler_of(echo, task_store=Failing())
    with pytest.raises(InternalError) as raised:
        await ask(handler, "one")
    assert "Error id" in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_no_run_starts_after_shutdown_began_and_a_running_one_fails_with_the_reason() -> None:
    held = Held()
    handler = handler_of(held.act, shutdown_grace=0.05)
    running = asyncio.create_task(listen(handler, "one", context_id="c"))
    waiting = ask_in_background(handler, "two", context_id="c")
    await held.has_begun("one")
    handler.begin_shutdown()
    with pytest.raises(UnsupportedOperationError):
        await ask(handler, "three")
    await asyncio.wait_for(handler.aclose(), 10)
    events = await running
    assert [shape_of(event) for event in events[-2:]] == ["end", "FAILED"]
    assert "shutting down" in str(events[-1])
    with pytest.raises(InternalError, match="shutting down"):
        await waiting
    assert held.stopped == ["one"]


async def test_a_run_that_ends_within_the_grace_period_completes() -> None:
    held = Held()
    handler = handler_of(held.act, shutdown_grace=10)
    running = ask_in_background(handler, "one")
    await held.has_begun("one")
    closing = asyncio.create_task(handler.aclose())
    await until_idle()
    held.go.set()
    await asyncio.wait_for(closing, 5)
    assert state_of(await running) == "COMPLETED"


async def test_a_run_past_its_deadline_fails_and_the_agent_is_stopped() -> None:
    """F5"""
    held = Held()
    handler = handler_of(executor_of(held.act, run_timeout=0.05))
    task = await ask(handler, "one")
    assert state_of(task) == "FAILED"
    assert held.stopped == ["one"]


async def test_a_message_that_is_refused_leaves_the_readers_of_a_paused_task_alone() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    reader = asyncio.create_task(subscribe(handler, task.id))
    await until_idle()
    with pytest.raises(InvalidParamsError):
        await ask(handler, "", task_id=task.id)
    await until_idle()
    assert not reader.done()
    await ask(handler, "done", task_id=task.id)
    shapes = [shape_of(event) for event in await within(5, reader)]
    assert shapes == ["task INPUT_REQUIRED", "WORKING", "COMPLETED"]


async def test_a_subscription_to_a_paused_task_ends_when_the_server_stops() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    before = asyncio.create_task(subscribe(handler, task.id))
    await until_idle()
    handler.begin_shutdown()
    await until_idle()
    after = await within(5, subscribe(handler, task.id))
    assert [shape_of(event) for event in after] == ["task INPUT_REQUIRED"]
    assert await within(5, before) == after
    await handler.aclose()
