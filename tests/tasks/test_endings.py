"""Where the server itself ends a task: with the options of the server, and only once."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.cluster import LegacyTaskStoreAdapter
from a2a.server.context import ServerCallContext
from a2a.types import Message, Part, Role, Task, TaskState
from a2a.utils.errors import InternalError
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.runners import InMemoryRunner

from aion_adk import A2ABridgePlugin, A2AOutbox, MemoryTaskStore, emit_data
from aion_adk.execution.executor import ADKAgentExecutor
from aion_adk.protocol.structs import to_dict
from tests.acts import asks_back, user_text
from tests.agents import outbox_event, text_event
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
    until_idle,
)
from tests.serving import reply_of, request_of

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


async def test_a_task_whose_executor_breaks_ends_with_the_servers_stamp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D3, F4"""

    async def break_down(*_: object) -> None:
        raise RuntimeError("secret")

    executor = executor_of(waits, **OPTIONS)
    monkeypatch.setattr(executor, "execute", break_down)
    ended = await ask(handler_of(executor), "one")
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

    handler = handler_of(answers, task_store=Full())
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


async def test_a_paused_task_can_be_canceled_although_its_metadata_need_a_message() -> None:
    """F3, D3"""

    def of_message(context: RequestContext) -> dict[str, Any]:
        assert context.message is not None
        return {"aion:message": context.message.message_id}

    handler = handler_of(executor_of(asks_back, server_metadata=of_message))
    task = await ask(handler, "start")
    ended = await cancel(handler, task.id)
    assert state_of(ended) == "CANCELED"


async def test_a_server_metadata_function_sees_the_task_that_goes_on() -> None:
    """D3"""
    seen: list[bool] = []

    def note(context: RequestContext) -> dict[str, Any]:
        seen.append(context.current_task is not None)
        return {}

    handler = handler_of(executor_of(asks_back, server_metadata=note))
    task = await ask(handler, "start")
    await ask(handler, "done", task_id=task.id)
    assert seen == [False, True]


async def test_a_follow_up_to_a_task_of_adks_client_is_answered_in_its_form() -> None:
    """ADK's client reads artifacts only where there are any."""

    async def asks_then_sends(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if user_text(ctx) == "done":
            emit_data(ctx, {"a": 1}, name="data")
            yield text_event(agent, ctx, "thanks")
            return
        async for event in asks_back(agent, ctx):
            yield event

    handler = handler_of(asks_then_sends)
    marked = Part(text="start")
    marked.metadata.update({"is_user_input": True})
    task = await handler.on_message_send(request_of([marked]), call())
    assert isinstance(task, Task)
    ended = await ask(handler, "done", task_id=task.id)
    assert [artifact.name for artifact in ended.artifacts] == ["data", "reply"]


async def test_a_task_that_went_on_can_be_answered_by_an_outbox_that_asks_for_no_task() -> None:
    """C6: it is an ordinary reply then."""

    async def outbox_at_last(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if user_text(ctx) == "done":
            reply = Message(message_id="r", role=Role.ROLE_AGENT, parts=[Part(text="thanks")])
            yield outbox_event(agent, ctx, A2AOutbox(message=reply, direct=True))
            return
        async for event in asks_back(agent, ctx):
            yield event

    handler = handler_of(executor_of(outbox_at_last, direct_messages=True))
    task = await ask(handler, "start")
    ended = await ask(handler, "done", task_id=task.id)
    assert (state_of(ended), reply_of(ended)) == ("COMPLETED", "thanks")


class CountingReads(MemoryTaskStore):
    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        self.reads += 1
        return await super().get(task_id, context)


@pytest.mark.parametrize("durable", [False, True])
async def test_the_task_that_goes_on_is_read_once(durable: bool) -> None:
    store = CountingReads()
    handler = handler_of(asks_back, task_store=store, durable=durable)
    task = await ask(handler, "start")
    await ask(handler, "more", task_id=task.id)  # a durable store is asked for earlier messages
    await until_idle()
    store.reads = 0
    await ask(handler, "done", task_id=task.id)
    assert store.reads == 1


async def test_a_task_ends_although_its_metadata_are_no_json() -> None:
    """F3, D3"""

    def of_message(context: RequestContext) -> dict[str, Any]:
        return {} if context.message is not None else {"aion:note": object()}

    handler = handler_of(executor_of(asks_back, server_metadata=of_message))
    task = await ask(handler, "start")
    assert state_of(await cancel(handler, task.id)) == "CANCELED"
