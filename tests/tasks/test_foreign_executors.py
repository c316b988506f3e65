"""Executors that were written for a2a-sdk alone."""

import asyncio
import subprocess
import sys

import pytest
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import InternalError, InvalidAgentResponseError

from aion_adk.protocol.from_genai import agent_message
from tests.handling import (
    IMMEDIATELY,
    ask,
    call,
    cancel,
    handler_of,
    listen,
    look_up,
    shape_of,
    state_of,
    subscribe,
    until_idle,
)
from tests.serving import reply_of, request_of


class Plain(AgentExecutor):
    """An executor written for a2a-sdk alone."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        await updater.start_work()
        await updater.add_artifact([Part(text="x")], artifact_id="x", last_chunk=False)
        await updater.add_artifact([Part(text="y")], artifact_id="x", append=True, last_chunk=True)
        await updater.complete(updater.new_agent_message([Part(text="done")]))
        await updater.event_queue.enqueue_event(Task(id=context.task_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


async def test_a_plain_executor_runs_and_what_it_sends_after_the_end_is_dropped() -> None:
    handler = handler_of(Plain())
    task = await ask(handler, "hello", context_id="c")
    assert (state_of(task), reply_of(task)) == ("COMPLETED", "done")
    assert [part.text for part in task.artifacts[0].parts] == ["x", "y"]
    assert task.history[0].parts[0].text == "hello"
    assert await look_up(handler, task.id) == task


class Answering(AgentExecutor):
    """Answers with a bare message when `go` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.runs = 0

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.runs += 1
        await self.go.wait()
        parts = [Part(text="hi")]
        await event_queue.enqueue_event(Message(message_id="r", role=Role.ROLE_AGENT, parts=parts))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


class Untamed(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise Uncaught("secret")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


class Uncaught(BaseException):
    """Not an Exception."""


async def test_an_executor_that_raises_what_nobody_catches_leaves_no_caller_waiting() -> None:
    """F4, E1"""
    with pytest.raises(InternalError, match="Error id: ") as raised:
        await ask(handler_of(Untamed()), "one")
    assert "secret" not in str(raised.value)


async def test_an_executor_may_answer_with_a_message_alone() -> None:
    executor = Answering()
    executor.go.set()
    handler = handler_of(executor)

    def hello() -> SendMessageRequest:
        return request_of("hello", context_id="c", message_id="m")

    answer = await handler.on_message_send(hello(), call())
    again = await handler.on_message_send(hello(), call())
    streamed = [event async for event in handler.on_message_send_stream(hello(), call())]
    assert isinstance(answer, Message)
    assert again == answer
    assert streamed == [answer]
    assert executor.runs == 1


async def test_a_message_that_answers_an_announced_task_completes_it() -> None:
    executor = Answering()
    handler = handler_of(executor)
    first = asyncio.create_task(handler.on_message_send(request_of("one", context_id="c"), call()))
    await until_idle()
    second = await ask(handler, "two", context_id="c", configuration=IMMEDIATELY)
    reader = asyncio.create_task(subscribe(handler, second.id))
    await until_idle()
    executor.go.set()
    assert isinstance(await first, Message)
    assert [shape_of(event) for event in await reader] == ["task WORKING", "COMPLETED"]
    assert reply_of(await look_up(handler, second.id)) == "hi"


async def test_an_executors_first_task_repeats_the_servers_and_is_not_shown() -> None:
    """E1: what comes after it is shown, and a bare Message can no longer be the answer."""

    class Announcing(Plain):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
            await updater.start_work()
            task = Task(id=context.task_id, context_id=context.context_id)
            task.status.state = TaskState.TASK_STATE_WORKING
            await event_queue.enqueue_event(task)
            task.artifacts.add(artifact_id="x")
            await event_queue.enqueue_event(task)
            await event_queue.enqueue_event(agent_message([Part(text="hi")]))

    events = await listen(handler_of(Announcing()), "one")
    assert [shape_of(event) for event in events] == [
        "task WORKING",
        "WORKING",
        "task WORKING",
        "FAILED",
    ]
    assert isinstance(events[2], Task)
    assert [artifact.artifact_id for artifact in events[2].artifacts] == ["x"]


class Authorizing(AgentExecutor):
    """Waits for an authorization given elsewhere, then goes on by itself."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        await updater.requires_auth()
        await self.go.wait()
        await updater.start_work()
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None: ...


async def test_a_run_may_go_on_by_itself_after_asking_for_authorization() -> None:
    executor = Authorizing()
    handler = handler_of(executor)
    task = await ask(handler, "one", context_id="c")
    assert state_of(task) == "AUTH_REQUIRED"
    reader = asyncio.create_task(subscribe(handler, task.id))
    await until_idle()
    executor.go.set()
    assert [shape_of(event) for event in await reader] == [
        "task AUTH_REQUIRED",
        "WORKING",
        "COMPLETED",
    ]


async def test_a_run_that_waits_for_authorization_can_be_canceled() -> None:
    """F3"""
    handler = handler_of(Authorizing())
    task = await ask(handler, "one", context_id="c")
    assert state_of(await cancel(handler, task.id)) == "CANCELED"


async def test_an_event_for_another_task_is_refused() -> None:
    class Confused(Plain):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            await event_queue.enqueue_event(Task(id="not mine"))

    with pytest.raises(InvalidAgentResponseError):
        await ask(handler_of(Confused()), "one")


def test_the_life_of_a_task_needs_no_adk() -> None:
    code = (
        "import sys; sys.modules['google.adk'] = None;"
        "import aion_adk.tasks.guarded_handler, aion_adk.storage.memory"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
