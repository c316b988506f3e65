import asyncio

import pytest
from a2a.server.events import Event
from a2a.types import (
    Artifact,
    Part,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import InternalError

from aion_adk.parts import STREAM_DELTA
from aion_adk.subscription import MOST_BYTES_A_PIECE, Subscription


def chunk(text: str, *, of: str = STREAM_DELTA, append: bool = True) -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id=of, parts=[Part(text=text)])
    return TaskArtifactUpdateEvent(artifact=artifact, append=append)


def file_of(size: int) -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id="file", parts=[Part(raw=b"x" * size)])
    return TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True)


def status(state: TaskState = TaskState.TASK_STATE_WORKING) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(status=TaskStatus(state=state))


async def read(reader: Subscription) -> list[Event]:
    async with asyncio.timeout(5):
        return [event async for event in reader.events()]


async def test_text_that_waits_is_merged_and_other_events_keep_their_place() -> None:
    reader = Subscription()
    for event in (chunk("a", append=False), chunk("b"), status(), chunk("c"), chunk("d")):
        reader.push(event)
    reader.close()
    assert await read(reader) == [chunk("ab", append=False), status(), chunk("cd")]


async def test_sections_that_are_open_at_once_are_merged_apart() -> None:
    reader = Subscription()
    other = f"{STREAM_DELTA}:other"
    for text in ("1", "2", "3"):
        reader.push(chunk(text))
        reader.push(chunk(text, of=other))
    reader.close()
    assert await read(reader) == [chunk("123"), chunk("123", of=other)]


async def test_merged_text_comes_in_pieces_that_can_be_written() -> None:
    reader = Subscription()
    text = "x" * 10_000
    for _ in range(100):
        reader.push(chunk(text))
    reader.close()
    pieces = await read(reader)
    assert sum(piece.ByteSize() for piece in pieces) > 1_000_000
    assert all(piece.ByteSize() < 2 * MOST_BYTES_A_PIECE for piece in pieces)


async def test_a_reader_too_slow_gets_an_error_and_not_a_silent_end() -> None:
    reader = Subscription(most_bytes=100_000)
    for _ in range(20):
        reader.push(file_of(10_000))
    reader.push(status(TaskState.TASK_STATE_COMPLETED))
    assert not reader.behind
    with pytest.raises(InternalError, match="too slow"):
        await read(reader)


async def test_short_chunks_count_with_what_they_cost() -> None:
    reader = Subscription(most_bytes=100_000)
    for _ in range(10_000):
        reader.push(chunk("x"))
        reader.push(status())
    with pytest.raises(InternalError, match="too slow"):
        await read(reader)


async def test_one_event_may_be_larger_than_the_buffer() -> None:
    reader = Subscription(most_bytes=1000)
    reader.push(file_of(5000))
    reader.close()
    assert await read(reader) == [file_of(5000)]
