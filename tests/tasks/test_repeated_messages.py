import asyncio

import pytest
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, ListTasksResponse
from a2a.utils.errors import InvalidParamsError

from aion_adk.storage.memory import MemoryTaskStore
from tests.acts import Held, asks_back, echo
from tests.handling import ask, ask_in_background, handler_of, listen, shape_of, state_of


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
    callers = [ask_in_background(handler, "one", context_id="c", message_id="m") for _ in range(3)]
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


async def test_the_oldest_of_too_many_messages_is_forgotten() -> None:
    """A7"""
    handler = handler_of(echo, remembered_messages=2)
    first = await ask(handler, "0", context_id="c", message_id="0")
    for number in ("1", "2"):
        await ask(handler, number, context_id="c", message_id=number)
    again = await ask(handler, "0", context_id="c", message_id="0")
    assert again.id != first.id


class FailsOnce(MemoryTaskStore):
    """A store that is out of reach when it is first asked for a list."""

    failed = False

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        if not self.failed:
            self.failed = True
            raise ConnectionError
        return await super().list(params, context)


async def test_a_store_that_was_out_of_reach_is_asked_again_for_earlier_messages() -> None:
    """A7"""
    store = FailsOnce()
    earlier = handler_of(echo, task_store=store)
    first = await ask(earlier, "one", context_id="c", message_id="m")
    handler = handler_of(echo, task_store=store, durable=True)
    with pytest.raises(ConnectionError):
        await ask(handler, "one", context_id="c", message_id="m")
    assert await ask(handler, "one", context_id="c", message_id="m") == first
