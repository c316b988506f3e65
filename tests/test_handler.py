import asyncio
import copy
from collections.abc import AsyncGenerator
from math import inf, nan
from typing import Any

import pytest
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import (
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import (
    InternalError,
    InvalidAgentResponseError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.api.field_behavior_pb2 import FieldBehavior, field_behavior
from google.protobuf.struct_pb2 import Value

from aion_adk.handler import is_complete
from aion_adk.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.snapshot import TERMINAL_STATES
from aion_adk.store import MemoryTaskStore
from aion_adk.values import to_value
from tests.agents import said
from tests.handling import (
    IMMEDIATELY,
    Acting,
    ask,
    asking,
    call,
    cancel,
    executor_of,
    handler_of,
    listen,
    look_up,
    shape_of,
    state_of,
    subscribe,
    within,
)
from tests.serving import reply_of, request_of

BEHAVIOR: Any = field_behavior  # its type does not say that it is an extension


def asked(ctx: InvocationContext) -> str:
    parts = (ctx.user_content.parts or []) if ctx.user_content else []
    return "".join(part.text or "" for part in parts)


async def echo(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield said(agent, ctx, f"you said {asked(ctx)}")


class Held:
    """An agent that says where it is and waits to be let on."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.stopped: list[str] = []
        self.begin = asyncio.Condition()
        self.go = asyncio.Event()

    async def act(self, agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        text = asked(ctx)
        yield said(agent, ctx, "a", partial=True)
        yield said(agent, ctx, "b", partial=True)
        async with self.begin:
            self.began.append(text)
            self.begin.notify_all()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.stopped.append(text)
            raise
        yield said(agent, ctx, "c", partial=True)
        yield said(agent, ctx, "abc")

    async def has_begun(self, *texts: str) -> None:
        async with asyncio.timeout(10), self.begin:
            await self.begin.wait_for(lambda: set(texts) <= set(self.began))


def nested(depth: int) -> Value:
    plain: Any = 1
    for _ in range(depth):
        plain = {"deeper": plain}
    return to_value(plain)


async def asks_back(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    if asked(ctx) == "done":
        yield said(agent, ctx, "thanks")
        return
    question = Task()
    question.status.state = TaskState.TASK_STATE_INPUT_REQUIRED
    event = said(agent, ctx, "more?")
    event.actions.state_delta[OUTBOX_KEY] = A2AOutbox(task=question)
    yield event


async def test_a_caller_that_leaves_does_not_stop_its_run() -> None:
    """E8"""
    held = Held()
    handler = handler_of(held.act)
    caller = asking(handler, "one", context_id="c", message_id="m")
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
    await asyncio.sleep(0)
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


async def test_a_message_is_taken_once_and_its_task_given_again() -> None:
    """A7"""
    held = Held()
    held.go.set()
    handler = handler_of(held.act)
    first = await ask(handler, "one", context_id="c", message_id="m")
    again = await ask(handler, "one", context_id="c", message_id="m")
    streamed = await listen(handler, "one", context_id="c", message_id="m")
    by_task = await ask(handler, "one", task_id=first.id, message_id="m")
    assert again == first == by_task
    assert streamed == [first]
    assert held.began == ["one"]


async def test_a_message_in_flight_attaches_its_second_caller_to_the_first_run() -> None:
    """A7"""
    held = Held()
    handler = handler_of(held.act)
    callers = [asking(handler, "one", context_id="c", message_id="m") for _ in range(3)]
    reader = asyncio.create_task(listen(handler, "one", context_id="c", message_id="m"))
    await held.has_begun("one")
    held.go.set()
    tasks = await asyncio.gather(*callers)
    assert {task.id for task in tasks} == {tasks[0].id}
    assert shape_of((await reader)[-1]) == "COMPLETED"
    assert held.began == ["one"]


async def test_a_message_in_a_context_the_server_chose_is_known_by_that_context() -> None:
    """A7"""
    handler = handler_of(asks_back)
    first = await ask(handler, "start", message_id="m")
    assert await ask(handler, "start", message_id="m", task_id=first.id) == first
    assert await ask(handler, "start", message_id="m", context_id=first.context_id) == first
    fresh = await ask(handler, "start", message_id="m")
    assert fresh.context_id != first.context_id


async def test_the_same_message_of_another_owner_is_another_message() -> None:
    """A7"""
    handler = handler_of(echo)
    mine = await ask(handler, "one", context_id="c", message_id="m", user="ann")
    theirs = await ask(handler, "one", context_id="c", message_id="m", user="bob")
    assert mine.id != theirs.id


async def test_a_message_that_was_refused_is_not_remembered() -> None:
    """A5, A7"""
    handler = handler_of(echo)
    with pytest.raises(InvalidParamsError):
        await ask(handler, "", context_id="c", message_id="m")
    task = await ask(handler, "now with text", context_id="c", message_id="m")
    assert state_of(task) == "COMPLETED"


async def test_the_ledger_forgets_the_oldest_message() -> None:
    """A7"""
    handler = handler_of(echo, remembered_messages=2)
    first = await ask(handler, "0", context_id="c", message_id="0")
    for number in ("1", "2"):
        await ask(handler, number, context_id="c", message_id=number)
    again = await ask(handler, "0", context_id="c", message_id="0")
    assert again.id != first.id


async def test_turns_of_a_context_run_in_arrival_order_and_hold_up_no_other_context() -> None:
    """A8"""
    held = Held()
    handler = handler_of(held.act)
    turns = [asking(handler, str(number), context_id="c") for number in range(8)]
    other = asking(handler, "other", context_id="d")
    await held.has_begun("0", "other")
    assert held.began == ["0", "other"]
    held.go.set()
    tasks = await asyncio.gather(*turns, other)
    assert [state_of(task) for task in tasks] == ["COMPLETED"] * 9
    assert [text for text in held.began if text != "other"] == [str(n) for n in range(8)]


async def test_a_turn_that_waits_for_others_can_be_seen_and_canceled_before_it_starts() -> None:
    """A1, A8, F3"""
    held = Held()
    handler = handler_of(held.act)
    first = asking(handler, "first", context_id="c")
    await held.has_begun("first")
    second = await ask(handler, "second", context_id="c", configuration=IMMEDIATELY)
    third = asking(handler, "third", context_id="c")
    assert (state_of(second), second.history[0].parts[0].text) == ("WORKING", "second")
    assert state_of(await cancel(handler, second.id)) == "CANCELED"
    assert not first.done()
    assert held.began == ["first"]
    held.go.set()
    assert [state_of(await turn) for turn in (first, third)] == ["COMPLETED", "COMPLETED"]
    assert held.began == ["first", "third"]
    assert state_of(await look_up(handler, second.id)) == "CANCELED"


async def test_a_turn_announced_while_it_waited_shows_one_task_only() -> None:
    """A1, E1"""
    held = Held()
    handler = handler_of(held.act)
    first = asking(handler, "first", context_id="c")
    await held.has_begun("first")
    second = await ask(handler, "second", context_id="c", configuration=IMMEDIATELY)
    reader = asyncio.create_task(subscribe(handler, second.id))
    await asyncio.sleep(0)
    held.go.set()
    shapes = [shape_of(event) for event in await reader]
    assert [shape for shape in shapes if shape.startswith("task")] == ["task WORKING"]
    assert shapes[-2:] == ["end", "COMPLETED"]
    assert state_of(await first) == "COMPLETED"


async def test_a_useless_message_is_refused_at_once_even_when_it_would_have_to_wait() -> None:
    """A5"""
    held = Held()
    handler = handler_of(held.act)
    first = asking(handler, "first", context_id="c")
    await held.has_begun("first")
    with pytest.raises(InvalidParamsError):
        await ask(handler, "", context_id="c", configuration=IMMEDIATELY)
    held.go.set()
    await first


async def test_cancel_stops_the_agent_closes_the_text_and_ends_the_task_once() -> None:
    """F3"""
    held = Held()
    handler = handler_of(held.act)
    sibling = asking(handler, "sibling", context_id="d")
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
            yield said(agent, ctx, "never")
        finally:
            canceled.set()
            await go.wait()

    handler = handler_of(slow_to_stop)
    task = await ask(handler, "one", context_id="c", message_id="m", configuration=IMMEDIATELY)
    waiting = asking(handler, "one", context_id="c", message_id="m")
    await within(5, begun.wait())
    caller = asyncio.create_task(cancel(handler, task.id))
    await within(5, canceled.wait())
    caller.cancel()
    await asyncio.wait({caller})
    with pytest.raises(TaskNotCancelableError):
        await cancel(handler, task.id)
    go.set()
    assert state_of(await within(5, waiting)) == "CANCELED"


@pytest.mark.parametrize("data", [{"number_value": nan}, {"number_value": inf}, nested(31)])
async def test_a_message_that_json_cannot_hold_is_refused_and_spoils_no_list(data: Any) -> None:
    """A5: what one caller sends can be written for the others."""
    store = MemoryTaskStore()
    handler = handler_of(echo, task_store=store)
    with pytest.raises(InvalidParamsError):
        await handler.on_message_send(request_of([Part(data=data)]), call())
    await handler.on_message_send(request_of([Part(data=nested(25))]), call())
    page = await store.list(ListTasksRequest(), call())
    assert len(page.tasks) == 1


async def test_a_parked_task_can_be_canceled_and_then_takes_no_message() -> None:
    """F3"""
    handler = handler_of(asks_back)
    task = await ask(handler, "start")
    assert state_of(task) == "INPUT_REQUIRED"
    assert state_of(await cancel(handler, task.id)) == "CANCELED"
    with pytest.raises(UnsupportedOperationError):
        await ask(handler, "done", task_id=task.id)


async def test_a_follow_up_that_names_only_the_task_continues_in_its_context() -> None:
    handler = handler_of(asks_back)
    task = await ask(handler, "start", context_id="c")
    done = await ask(handler, "done", task_id=task.id)
    assert (done.id, done.context_id, state_of(done)) == (task.id, "c", "COMPLETED")
    said_by_user = [m.parts[0].text for m in done.history if m.role == Role.ROLE_USER]
    assert said_by_user == ["start", "done"]


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
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before


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


async def test_a_plain_executor_runs_and_nothing_it_says_afterwards_counts() -> None:
    handler = handler_of(Plain())
    task = await ask(handler, "hello", context_id="c")
    assert (state_of(task), reply_of(task)) == ("COMPLETED", "done")
    assert [part.text for part in task.artifacts[0].parts] == ["x", "y"]
    assert task.history[0].parts[0].text == "hello"
    assert await look_up(handler, task.id) == task


class Answering(AgentExecutor):
    """Answers with a bare message, after as long as it is told to."""

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
    await asyncio.sleep(0)
    second = await ask(handler, "two", context_id="c", configuration=IMMEDIATELY)
    reader = asyncio.create_task(subscribe(handler, second.id))
    await asyncio.sleep(0)
    executor.go.set()
    assert isinstance(await first, Message)
    assert [shape_of(event) for event in await reader] == ["task WORKING", "COMPLETED"]
    assert reply_of(await look_up(handler, second.id)) == "hi"


class Stubborn(AgentExecutor):
    """Ignores its cancellation and says that all went well."""

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
    monkeypatch.setattr("aion_adk.registry.SECONDS_TO_STOP", 0.05)
    executor = Stubborn()
    handler = handler_of(executor)
    task = await ask(handler, "one", context_id="c", configuration=IMMEDIATELY)
    await executor.began.wait()
    assert state_of(await cancel(handler, task.id)) == "CANCELED"
    executor.began.clear()
    following = asking(handler, "two", context_id="c")
    await asyncio.wait_for(executor.began.wait(), 5)
    executor.go.set()
    assert state_of(await following) == "FAILED"
    assert state_of(await look_up(handler, task.id)) == "CANCELED"


async def stubborn(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield said(agent, ctx, "a", partial=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        yield said(agent, ctx, "I go on")


async def test_an_agent_that_answers_its_cancellation_is_not_heard() -> None:
    """F3"""
    handler = handler_of(stubborn)
    task = await ask(handler, "one", context_id="c", configuration=IMMEDIATELY)
    canceled = await cancel(handler, task.id)
    assert state_of(canceled) == "CANCELED"
    assert "I go on" not in str(canceled)


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
    await asyncio.sleep(0)
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


async def test_an_event_for_another_task_is_refused() -> None:
    class Confused(Plain):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            await event_queue.enqueue_event(Task(id="not mine"))

    with pytest.raises(InvalidAgentResponseError):
        await ask(handler_of(Confused()), "one")


async def test_no_run_starts_after_shutdown_began_and_a_running_one_fails_with_the_reason() -> None:
    held = Held()
    handler = handler_of(held.act, shutdown_grace=0.05)
    running = asyncio.create_task(listen(handler, "one", context_id="c"))
    waiting = asking(handler, "two", context_id="c")
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
    running = asking(handler, "one")
    await held.has_begun("one")
    closing = asyncio.create_task(handler.aclose())
    await asyncio.sleep(0)
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


def test_what_a_message_must_have_is_what_a2a_requires() -> None:
    """A1"""
    found = {
        f"{kind.DESCRIPTOR.name}.{field.name}"
        for kind in (SendMessageRequest, SendMessageConfiguration, Message, Part)
        for field in kind.DESCRIPTOR.fields
        if FieldBehavior.REQUIRED in field.GetOptions().Extensions[BEHAVIOR]
    }
    assert found == {
        "SendMessageRequest.message",
        "Message.message_id",
        "Message.role",
        "Message.parts",
    }


@pytest.mark.parametrize("missing", ["", "message_id", "role", "parts"])
def test_a_message_is_complete_only_with_all_it_must_have(missing: str) -> None:
    """A1"""
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="x")])
    if missing:
        message.ClearField(missing)
    assert is_complete(SendMessageRequest(message=message)) == (not missing)
