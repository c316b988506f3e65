import asyncio

import pytest
from a2a.utils.errors import InvalidParamsError

from tests.acts import Held
from tests.handling import (
    IMMEDIATELY,
    ask,
    ask_in_background,
    cancel,
    handler_of,
    look_up,
    shape_of,
    state_of,
    subscribe,
    until_idle,
)


async def test_turns_of_a_context_run_in_arrival_order_and_hold_up_no_other_context() -> None:
    """A8"""
    held = Held()
    handler = handler_of(held.act)
    turns = [ask_in_background(handler, str(number), context_id="c") for number in range(8)]
    other = ask_in_background(handler, "other", context_id="d")
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
    first = ask_in_background(handler, "first", context_id="c")
    await held.has_begun("first")
    second = await ask(handler, "second", context_id="c", configuration=IMMEDIATELY)
    third = ask_in_background(handler, "third", context_id="c")
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
    first = ask_in_background(handler, "first", context_id="c")
    await held.has_begun("first")
    second = await ask(handler, "second", context_id="c", configuration=IMMEDIATELY)
    reader = asyncio.create_task(subscribe(handler, second.id))
    await until_idle()
    held.go.set()
    shapes = [shape_of(event) for event in await reader]
    assert [shape for shape in shapes if shape.startswith("task")] == ["task WORKING"]
    assert shapes[-2:] == ["end", "COMPLETED"]
    assert state_of(await first) == "COMPLETED"


async def test_a_useless_message_is_refused_at_once_even_when_it_would_have_to_wait() -> None:
    """A5"""
    held = Held()
    handler = handler_of(held.act)
    first = ask_in_background(handler, "first", context_id="c")
    await held.has_begun("first")
    with pytest.raises(InvalidParamsError):
        await ask(handler, "", context_id="c", configuration=IMMEDIATELY)
    held.go.set()
    await first
