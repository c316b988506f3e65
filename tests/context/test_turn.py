import asyncio
from concurrent.futures import ThreadPoolExecutor

from aion_adk.context.turn import DeltaEnd, TextDelta, TurnOutput
from aion_adk.execution.publisher import TurnQueue

SAID = TextDelta(("agent", ""), "hello")


class Delivered(list[TurnOutput]):
    """Takes its time with each item."""

    async def publish(self, item: TurnOutput) -> None:
        await asyncio.sleep(0)
        self.append(item)


async def test_what_is_published_and_what_is_sent_leave_in_the_order_they_came() -> None:
    """E: one queue for helpers, threads and events."""
    delivered = Delivered()
    turn = TurnQueue(delivered, task_id="t")
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
    delivered = Delivered()
    turn = TurnQueue(delivered, task_id="t")
    await turn.close()
    turn.publish(SAID)
    await asyncio.to_thread(turn.publish, SAID)
    await turn.send(SAID, DeltaEnd(SAID.key))
    assert delivered == []


def test_a_thread_that_outlives_the_server_can_go_on() -> None:
    """E: what it publishes then is dropped."""
    delivered = Delivered()

    async def start() -> TurnQueue:
        return TurnQueue(delivered, task_id="t")

    turn = asyncio.run(start())
    with ThreadPoolExecutor(1) as pool:
        pool.submit(turn.publish, SAID).result(timeout=10)
    assert delivered == []
