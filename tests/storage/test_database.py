import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from a2a.types import GetTaskRequest, Task, TaskState
from a2a.utils.errors import TaskNotCancelableError, UnsupportedOperationError
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk.errors import LoadError
from aion_adk.server.build import database_at
from aion_adk.storage.database import Database
from tests.acts import Held
from tests.agents import text_event
from tests.handling import (
    IMMEDIATELY,
    Acting,
    ask,
    call,
    cancel,
    handler_of,
    look_up,
    state_of,
    subscribe,
)
from tests.serving import client_of, reply_of, send, serving


@pytest.fixture
def url(tmp_path: Path) -> str:
    """SQLite, or the database that the environment names: the tests hold for PostgreSQL too."""
    return os.environ.get("TEST_DATABASE_URL", f"sqlite+aiosqlite:///{tmp_path}/tasks.db")


@pytest.fixture
async def database(url: str) -> AsyncGenerator[Database, None]:
    database = Database(url, app_name="test")
    await database.open()
    yield database
    await database.aclose()


async def counts(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    turns = sum(event.author == "user" for event in ctx.session.events)
    yield text_event(agent, ctx, f"turn {turns}")


async def test_tasks_and_conversations_outlive_the_app(url: str) -> None:
    context_id = "a context id longer than any UUID, as clients may choose one"
    agent = Acting(name="counting", act=counts)
    async with serving(agent, database_url=url) as address:
        first = await send(address, "one", context_id=context_id, message_id="m")
    async with serving(agent, database_url=url) as address:
        second = await send(address, "two", context_id=context_id)
        again = await send(address, "one", context_id=context_id, message_id="m")
        async with client_of(address) as client:
            found = await client.get_task(GetTaskRequest(id=first.id))
    assert [reply_of(task) for task in (first, second)] == ["turn 1", "turn 2"]
    assert found == first == again


async def test_a_task_left_at_work_by_a_crash_fails_when_it_is_next_asked_for(
    database: Database,
) -> None:
    held = Held()
    crashed = handler_of(held.act, task_store=database.tasks)
    task = await ask(crashed, "one", context_id="c", configuration=IMMEDIATELY)
    await held.has_begun("one")
    handler = handler_of(held.act, task_store=database.tasks, durable=True)
    found = await look_up(handler, task.id)
    assert state_of(found) == "FAILED"
    assert "restart" in reply_of(found)
    with pytest.raises(UnsupportedOperationError):
        await subscribe(handler, task.id)
    with pytest.raises(TaskNotCancelableError):
        await cancel(handler, task.id)
    held.go.set()
    await crashed.aclose()
    assert await look_up(handler, task.id) == found


async def test_a_run_ends_when_another_writer_cancels_its_task(database: Database) -> None:
    held = Held()
    running = handler_of(held.act, task_store=database.tasks)
    task = await ask(running, "one", context_id="c", configuration=IMMEDIATELY)
    await held.has_begun("one")
    other = handler_of(held.act, task_store=database.tasks)
    assert state_of(await cancel(other, task.id)) == "CANCELED"
    held.go.set()
    await running.aclose()
    assert state_of(await look_up(other, task.id)) == "CANCELED"


async def test_a_run_stopped_in_a_database_ends_failed(database: Database) -> None:
    held = Held()
    handler = handler_of(held.act, task_store=database.tasks, shutdown_grace=0)
    task = await ask(handler, "one", context_id="c", configuration=IMMEDIATELY)
    await held.has_begun("one")
    await handler.aclose()
    assert state_of(await look_up(handler, task.id)) == "FAILED"


async def test_eight_turns_of_one_context_all_complete_in_a_database(url: str) -> None:
    """A8"""
    agent = Acting(name="counting", act=counts)
    async with serving(agent, database_url=url) as address:
        tasks = await asyncio.gather(*(send(address, str(n), context_id="c") for n in range(8)))
    assert {reply_of(task) for task in tasks} == {f"turn {n}" for n in range(1, 9)}


def test_a_database_without_its_driver_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(LoadError, match=r"aion-adk\[postgresql\]"):
        database_at("postgresql://localhost/x", app_name="test")


@pytest.mark.parametrize("url", ["nonsense", "sqlite+pysqlite:///x", "mysql://user:secret@host"])
def test_a_database_of_another_kind_is_refused_without_repeating_its_password(url: str) -> None:
    with pytest.raises(LoadError, match="sqlite") as raised:
        database_at(url, app_name="test")
    assert "secret" not in str(raised.value)


async def test_agents_and_owners_share_no_tasks_in_a_database(database: Database, url: str) -> None:
    task = Task(id="t", context_id="c")
    task.status.state = TaskState.TASK_STATE_COMPLETED
    store = database.tasks.as_task_store
    await store.save(task, call("ann"))
    assert await store.get("t", call("ann")) == task
    assert await store.get("t", call("bob")) is None
    other = Database(url, app_name="other")
    assert await other.tasks.get("t", call("ann")) is None
    await other.aclose()
