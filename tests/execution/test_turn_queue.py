import asyncio
from concurrent.futures import ThreadPoolExecutor

from a2a.server.events import Event
from a2a.types import TaskArtifactUpdateEvent

from aion_adk.context.turn import SectionEnd, TextChunk
from aion_adk.execution.publisher import Publisher, TurnQueue
from aion_adk.protocol.stamp import Stamp, TaskQueue

HELLO = TextChunk(("agent", ""), "hello")


class Slow(TaskQueue):
    """Takes its time with each chunk."""

    def __init__(self) -> None:
        self.stamp = Stamp(task_id="t", context_id="c")
        self.streaming = True
        self.texts: list[str] = []

    async def enqueue_event(self, event: Event) -> None:
        raise AssertionError(event)

    async def show_text(self, update: TaskArtifactUpdateEvent) -> None:
        await asyncio.sleep(0)
        self.texts += [part.text for part in update.artifact.parts]

    async def add_text(self, artifact_id: str, chunk: str) -> bool:
        await asyncio.sleep(0)
        self.texts.append(chunk)
        return True


def turn_queue_to(queue: Slow) -> TurnQueue:
    publisher = Publisher(queue, artifact_ids=(), may_be_direct=False)
    return TurnQueue(publisher, task_id="t")


async def test_what_is_published_and_what_is_sent_leave_in_the_order_they_came() -> None:
    """E: one queue for helpers, threads and events."""
    queue = Slow()
    turn = turn_queue_to(queue)
    items = [TextChunk(("agent", ""), str(number)) for number in range(6)]
    turn.publish(items[0])
    await asyncio.to_thread(turn.publish, items[1])
    await turn.send(items[2], items[3])
    turn.publish(items[4])
    turn.publish(items[5])
    await turn.close()
    assert queue.texts == [item.text for item in items]


async def test_a_closed_turn_takes_nothing_more() -> None:
    """E1"""
    queue = Slow()
    turn = turn_queue_to(queue)
    await turn.close()
    turn.publish(HELLO)
    await asyncio.to_thread(turn.publish, HELLO)
    await turn.send(HELLO, SectionEnd(HELLO.key))
    assert queue.texts == []


def test_a_thread_that_outlives_the_server_can_go_on() -> None:
    """E: what it publishes then is dropped."""
    queue = Slow()

    async def start() -> TurnQueue:
        return turn_queue_to(queue)

    turn = asyncio.run(start())
    with ThreadPoolExecutor(1) as pool:
        pool.submit(turn.publish, HELLO).result(timeout=10)
    assert queue.texts == []
