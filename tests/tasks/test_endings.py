"""Where the server itself ends a task: it speaks with the options of the server, and only once."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.server.cluster import LegacyTaskStoreAdapter
from a2a.types import Task, TaskState
from a2a.utils.errors import InternalError
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.runners import InMemoryRunner

from aion_adk import A2ABridgePlugin, MemoryTaskStore
from aion_adk.execution.executor import ADKAgentExecutor
from aion_adk.protocol.structs import to_dict
from tests.handling import (
    IMMEDIATELY,
    Acting,
    ask,
    call,
    cancel,
    executor_of,
    handler_of,
    listen,
    look_up,
    state_of,
)
from tests.serving import reply_of

NETWORK = {"aion:network": "net-1"}
OPTIONS: dict[str, Any] = {"server_metadata": NETWORK, "canonical_types": False}


async def waits(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    await asyncio.Event().wait()
    yield Event(author=agent.name)


async def test_a_task_ended_by_a_shutdown_bears_the_servers_stamp() -> None:
    """D3, E1"""
    handler = handler_of(executor_of(waits, **OPTIONS), shutdown_grace=0)
    task = await ask(handler, "one", configuration=IMMEDIATELY)
    await asyncio.wait_for(handler.aclose(), 10)
    ended = await look_up(handler, task.id)
    assert (state_of(ended), reply_of(ended)) == ("FAILED", "The server is shutting down.")
    assert to_dict(ended.status.message.metadata) == NETWORK
    assert to_dict(ended.metadata) == NETWORK


async def test_a_task_left_behind_by_a_restart_ends_with_the_servers_stamp() -> None:
    """D3"""
    store = MemoryTaskStore()
    await store.save(Task(id="t", context_id="c", status={"state": "TASK_STATE_WORKING"}), call())
    handler = handler_of(
        executor_of(waits, **OPTIONS), task_store=LegacyTaskStoreAdapter(store), durable=True
    )
    ended = await look_up(handler, "t")
    assert (state_of(ended), "restart" in reply_of(ended)) == ("FAILED", True)
    assert to_dict(ended.status.message.metadata) == NETWORK


async def test_a_canceled_task_keeps_the_servers_stamp_and_has_no_message() -> None:
    """D3, F3"""
    handler = handler_of(executor_of(waits, **OPTIONS))
    task = await ask(handler, "one", configuration=IMMEDIATELY)
    ended = await cancel(handler, task.id)
    assert (state_of(ended), ended.status.HasField("message")) == ("CANCELED", False)
    assert to_dict(ended.metadata) == NETWORK


async def test_a_task_whose_executor_breaks_ends_with_the_servers_stamp() -> None:
    """D3, F4"""

    def broken(_: object) -> str:
        raise RuntimeError("secret")

    handler = handler_of(executor_of(waits, user_id=broken, **OPTIONS))
    ended = await ask(handler, "one")
    assert (state_of(ended), "Error id: " in reply_of(ended)) == ("FAILED", True)
    assert to_dict(ended.status.message.metadata) == NETWORK
    assert "secret" not in str(ended)


class Full(MemoryTaskStore):
    """Has no room for the end of a task."""

    async def save(self, task: Task, context: Any) -> None:
        if task.status.state != TaskState.TASK_STATE_WORKING:
            raise OSError("no space left at /var/secret")
        await super().save(task, context)


async def test_a_stream_whose_task_cannot_be_saved_ends_with_an_error_id() -> None:
    """F4"""

    async def answers(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=agent.name, invocation_id=ctx.invocation_id)

    handler = handler_of(executor_of(answers, **OPTIONS), task_store=Full())
    with pytest.raises(InternalError, match=r"could not be saved\. Error id: ") as raised:
        await listen(handler, "one")
    assert "secret" not in str(raised.value)


async def test_the_callers_runner_stays_as_it_was() -> None:
    runner = InMemoryRunner(Acting(name="acting", act=waits), app_name="acting")
    before = {**vars(runner)}, list(runner.plugin_manager.plugins)
    executor = ADKAgentExecutor(runner)
    assert ({**vars(runner)}, list(runner.plugin_manager.plugins)) == before
    assert isinstance(executor.runner.plugin_manager.plugins[0], A2ABridgePlugin)
    assert executor.runner.session_service is runner.session_service
