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

from aion_adk.protocol.parts import STREAM_DELTA, is_transitory
from aion_adk.tasks.readers import MAX_BYTES, MAX_BYTES_PER_PIECE, Reader, Readers


def chunk(text: str, *, of: str = STREAM_DELTA, append: bool = True) -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id=of, parts=[Part(text=text)])
    return TaskArtifactUpdateEvent(artifact=artifact, append=append)


def file_of(size: int) -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id="file", parts=[Part(raw=b"x" * size)])
    return TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True)


def status(state: TaskState = TaskState.TASK_STATE_WORKING) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(status=TaskStatus(state=state))


async def show(readers: Readers, *events: Event) -> None:
    for event in events:
        if isinstance(event, TaskArtifactUpdateEvent) and is_transitory(event.artifact.artifact_id):
            await readers.show_text(event)
        else:
            readers.show(event)


def reader_of(readers: Readers, *, max_bytes: int = MAX_BYTES) -> Reader:
    reader = Reader(max_bytes=max_bytes)
    readers.add(reader)
    return reader


async def read(reader: Reader) -> list[Event]:
    async with asyncio.timeout(5):
        return [event async for event in reader]


async def test_text_that_waits_is_merged_and_other_events_keep_their_place() -> None:
    readers = Readers()
    reader = reader_of(readers)
    await show(readers, chunk("a", append=False), chunk("b"), status(), chunk("c"), chunk("d"))
    reader.close()
    assert await read(reader) == [chunk("ab", append=False), status(), chunk("cd")]


async def test_the_first_32_chunks_leave_one_by_one_to_a_reader_that_takes_them() -> None:
    readers = Readers()
    reading = asyncio.create_task(read(reader := reader_of(readers)))
    chunks = [chunk(str(number), append=number > 0) for number in range(32)]
    await show(readers, *chunks)
    reader.close()
    assert await reading == chunks


async def test_sections_that_are_open_at_once_are_merged_apart() -> None:
    readers = Readers()
    reader = reader_of(readers)
    other = f"{STREAM_DELTA}:other"
    for text in ("1", "2", "3"):
        await show(readers, chunk(text))
        await show(readers, chunk(text, of=other))
    reader.close()
    assert await read(reader) == [chunk("123"), chunk("123", of=other)]


async def test_merged_text_comes_in_pieces_that_can_be_written() -> None:
    readers = Readers()
    reader = reader_of(readers)
    text = "x" * 10_000
    for _ in range(100):
        await show(readers, chunk(text))
    reader.close()
    pieces = await read(reader)
    assert sum(piece.ByteSize() for piece in pieces) > 1_000_000
    assert all(piece.ByteSize() < 2 * MAX_BYTES_PER_PIECE for piece in pieces)


async def test_a_reader_too_slow_gets_an_error_and_not_a_silent_end() -> None:
    readers = Readers()
    reader = reader_of(readers, max_bytes=100_000)
    for _ in range(20):
        await show(readers, file_of(10_000))
    await show(readers, status(TaskState.TASK_STATE_COMPLETED))
    assert not reader.behind
    with pytest.raises(InternalError, match="too slow"):
        await read(reader)


async def test_short_chunks_count_with_what_they_cost() -> None:
    readers = Readers()
    reader = reader_of(readers, max_bytes=100_000)
    for _ in range(10_000):
        await show(readers, chunk("x"))
        await show(readers, status())
    with pytest.raises(InternalError, match="too slow"):
        await read(reader)


async def test_a_reader_too_slow_for_one_section_of_text_gets_an_error_too() -> None:
    readers = Readers()
    reader = reader_of(readers, max_bytes=100_000)
    for _ in range(20):
        await show(readers, chunk("x" * 10_000))
    assert not reader.behind
    with pytest.raises(InternalError, match="too slow"):
        await read(reader)


async def test_a_late_reader_gets_a_section_larger_than_the_buffer() -> None:
    readers = Readers()
    for _ in range(20):
        await show(readers, chunk("x" * 10_000))
    reader = reader_of(readers, max_bytes=100_000)
    reader.close()
    assert await read(reader) == [chunk("x" * 200_000)]


async def test_one_event_may_be_larger_than_the_buffer() -> None:
    readers = Readers()
    reader = reader_of(readers, max_bytes=1000)
    await show(readers, file_of(5000))
    reader.close()
    assert await read(reader) == [file_of(5000)]
