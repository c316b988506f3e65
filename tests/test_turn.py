import asyncio
from concurrent.futures import ThreadPoolExecutor

from a2a.types import Message, Task

from aion_adk import A2AInbox
from aion_adk.turn import DeltaEnd, Outgoing, TextDelta, Turn

SAID = TextDelta(("agent", ""), "hello")


def turn_to(delivered: list[Outgoing]) -> Turn:
    async def deliver(item: Outgoing) -> None:
        await asyncio.sleep(0)
        delivered.append(item)

    inbox = A2AInbox(task=Task(), message=Message(), metadata={}, headers={})
    return Turn(inbox, task=Task(), deliver=deliver)


async def test_what_is_published_and_what_is_sent_leave_in_the_order_they_came() -> None:
    """E: one queue for helpers, threads and events."""
    delivered: list[Outgoing] = []
    turn = turn_to(delivered)
    items = [TextDelta(("agent", ""), str(number)) for number in range(6)]
    turn.publish(items[0])
    await asyncio.to_thread(turn.publish, items[1])
    await turn.send(items[2], items[3])
    turn.publish(items[4])
    turn.publish(items[5])
    await turn.close()
    assert delivered == items


async def test_a_closed_turn_takes_nothing_more() -> None:
    """E1"""
    delivered: list[Outgoing] = []
    turn = turn_to(delivered)
    await turn.close()
    turn.publish(SAID)
    await asyncio.to_thread(turn.publish, SAID)
    await turn.send(SAID, DeltaEnd(SAID.key))
    assert delivered == []


def test_a_thread_that_outlives_the_server_can_go_on() -> None:
    """E: what it publishes then is dropped."""
    delivered: list[Outgoing] = []

    async def start() -> Turn:
        return turn_to(delivered)

    turn = asyncio.run(start())
    with ThreadPoolExecutor(1) as pool:
        pool.submit(turn.publish, SAID).result(timeout=10)
    assert delivered == []
