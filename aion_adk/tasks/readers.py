"""The readers of a run: each has a buffer of its own, bounded in bytes; streamed text is shared."""

import asyncio
import copy
import sys
import time
from collections import deque
from collections.abc import AsyncIterator
from functools import cached_property
from typing import Protocol

from a2a.server.events import Event
from a2a.types import SendMessageConfiguration, Task, TaskArtifactUpdateEvent
from a2a.utils.errors import InternalError
from a2a.utils.task import apply_history_length

from aion_adk.protocol.task_state import status_update_of

MAX_BYTES = 8 * 1024 * 1024
"""What may wait for a reader. A single event may be larger."""

MAX_BYTES_PER_PIECE = 256 * 1024
"""Text is merged into pieces of about this size: each is copied several times when written."""

_OVERHEAD = 1024
"""What an event or a piece of text that waits is counted beside its content, in bytes."""

_CHUNKS_SINGLY = 32
"""So many chunks of a run leave one by one, since a short answer is read as it comes."""

_WRITE_SECONDS = 0.001
"""About how long it takes to write a chunk; those made in that time leave together."""

_LOOP_PASSES = 3
"""Turns of the event loop in which the readers may take and write a chunk."""


class OpenSection:
    """The chunks of an open section of text, kept until it ends and every reader has taken them."""

    def __init__(self, first: TaskArtifactUpdateEvent) -> None:
        self.first = first
        self.artifact_id = first.artifact.artifact_id
        self.chunks = ["".join(part.text for part in first.artifact.parts)]

    def update(self, start: int, stop: int) -> TaskArtifactUpdateEvent:
        """The chunks from `start` to `stop` as one event."""
        if start == 0 and stop == 1:
            return self.first
        update = copy.deepcopy(self._empty if start else self.first)
        del update.artifact.parts[1:]
        update.artifact.parts[0].text = "".join(self.chunks[start:stop])
        return update

    def ending(self) -> TaskArtifactUpdateEvent:
        update = copy.deepcopy(self._empty)
        del update.artifact.parts[:]
        update.last_chunk = True
        return update

    @cached_property
    def _empty(self) -> TaskArtifactUpdateEvent:
        """An update that appends no text."""
        update = copy.deepcopy(self.first)
        del update.artifact.parts[1:]
        update.artifact.parts[0].text = ""
        update.artifact.ClearField("metadata")
        update.append = True
        return update


class _Unread:
    """Chunks of a section that a reader has not taken; up to `stop` once another event follows."""

    __slots__ = ("section", "start", "stop")

    def __init__(self, section: OpenSection, start: int) -> None:
        self.section = section
        self.start = start
        self.stop: int | None = None


class ReaderSource(Protocol):
    def remove(self, reader: "Reader") -> None: ...


class Reader(AsyncIterator[Event]):
    """An async iterator of the events of one run, or of the runs to come on a paused task.

    Text that waits is merged, everything else is kept in order. A reader so slow that even this
    grows past `max_bytes` gets an error and no more events. `configuration` bounds the history
    of the tasks that are shown; with `updates_only` a whole task is shown as a change of status.
    """

    def __init__(
        self,
        *,
        max_bytes: int = MAX_BYTES,
        configuration: SendMessageConfiguration | None = None,
        updates_only: bool = False,
    ) -> None:
        self.source: ReaderSource | None = None
        self._max_bytes = max_bytes
        self._configuration = configuration
        self._updates_only = updates_only
        self._waiting: deque[Event | _Unread] = deque()
        self._unread: dict[str, _Unread] = {}
        self._bytes = 0
        self._closed = False
        self._error: Exception | None = None
        self._wakeup: asyncio.Future[None] | None = None

    @property
    def behind(self) -> bool:
        """Whether there is something the reader has not taken."""
        return bool(self._waiting)

    def show(self, event: Event) -> None:
        if self._closed:
            return
        if self._updates_only and isinstance(event, Task):
            event = status_update_of(event)
        for unread in self._unread.values():
            unread.stop = len(unread.section.chunks)
        self._unread.clear()
        self._waiting.append(event)
        self._grow(_OVERHEAD + event.ByteSize())

    def show_first(self, task: Task) -> None:
        """Shows the task before anything else, whole."""
        self._waiting.appendleft(task)
        self._grow(_OVERHEAD + task.ByteSize())

    def show_chunks(self, section: OpenSection, start: int) -> None:
        """Shows the chunks of `section` from `start` on, and those that follow."""
        if self._closed:
            return
        # A short string costs many times its length.
        size = sum(map(sys.getsizeof, section.chunks[start:]))
        unread = self._unread.get(section.artifact_id)
        if unread is None or unread.section is not section:
            if unread is not None:
                unread.stop = len(unread.section.chunks)
            unread = self._unread[section.artifact_id] = _Unread(section, start)
            self._waiting.append(unread)
            size += _OVERHEAD
        self._grow(size)

    def close(self, error: Exception | None = None) -> None:
        """Ends the stream after what is waiting, with `error` if one is given."""
        if not self._closed:
            self._closed = True
            self._error = error
            self._wake()

    async def first(self) -> Event:
        """The first event. A call that is refused raises instead, and the reader is closed."""
        try:
            event = await anext(self, None)
            if event is None:
                raise InternalError("The stream ended before its first event.")
        except BaseException:
            await self.aclose()
            raise
        return event

    async def aclose(self) -> None:
        """The reader is gone: nothing more is kept for it."""
        if self.source is not None:
            self.source.remove(self)
            self.source = None
        self._waiting.clear()
        self.close()

    async def __anext__(self) -> Event:
        while not self._waiting:
            if self._closed:
                error, self._error = self._error, None
                raise error or StopAsyncIteration
            self._wakeup = asyncio.get_running_loop().create_future()
            try:
                await self._wakeup
            finally:
                self._wakeup = None
        return self._take()

    def _take(self) -> Event:
        item = self._waiting[0]
        if isinstance(item, _Unread):
            return self._take_text(item)
        self._waiting.popleft()
        self._bytes -= _OVERHEAD + item.ByteSize()
        if isinstance(item, Task) and self._configuration is not None:
            return apply_history_length(item, self._configuration)
        return item

    def _take_text(self, unread: _Unread) -> Event:
        section, start = unread.section, unread.start
        end = len(section.chunks) if unread.stop is None else unread.stop
        stop, size = start, 0
        while stop < end and size <= MAX_BYTES_PER_PIECE:
            size += sys.getsizeof(section.chunks[stop])
            stop += 1
        self._bytes -= size
        if stop == end:
            self._waiting.popleft()
            self._bytes -= _OVERHEAD
            if unread.stop is None:
                del self._unread[section.artifact_id]
        else:
            unread.start = stop
        return section.update(start, stop)

    def _grow(self, size: int) -> None:
        self._bytes += size
        if self._bytes > max(self._max_bytes, size):
            self._waiting.clear()
            self._unread.clear()
            self.close(InternalError("The stream was closed because its reader was too slow."))
        self._wake()

    def _wake(self) -> None:
        if self._wakeup and not self._wakeup.done():
            self._wakeup.set_result(None)


class Readers:
    """Everyone who reads one run, and the streamed text whose sections are open."""

    def __init__(self) -> None:
        self._readers: list[Reader] = []
        self._open: dict[str, OpenSection] = {}
        self._chunks = 0
        self._last_pass = 0.0

    def add(self, reader: Reader) -> None:
        """Shows `reader` the text of the open sections, and everything from here on."""
        for section in self._open.values():
            reader.show_chunks(section, 0)
        self._readers.append(reader)
        reader.source = self

    def remove(self, reader: Reader) -> None:
        self._readers.remove(reader)

    def show(self, event: Event) -> None:
        for reader in self._readers:
            reader.show(event)

    async def show_text(self, event: TaskArtifactUpdateEvent) -> None:
        """Shows an update of text in flight: the first chunk, one more, or the end of a section."""
        artifact = event.artifact
        known = self._open.get(artifact.artifact_id)
        if event.last_chunk:
            self._open.pop(artifact.artifact_id, None)
            self.show(event)
        elif known is not None and event.append:
            await self.add_text(artifact.artifact_id, "".join(part.text for part in artifact.parts))
        elif artifact.parts:
            section = self._open[artifact.artifact_id] = OpenSection(event)
            for reader in self._readers:
                reader.show_chunks(section, 0)
            await self._pace()

    async def add_text(self, artifact_id: str, chunk: str) -> bool:
        """Shows one more chunk of an open section; False if no such section is open."""
        section = self._open.get(artifact_id)
        if section is None:
            return False
        section.chunks.append(chunk)
        start = len(section.chunks) - 1
        for reader in self._readers:
            reader.show_chunks(section, start)
        await self._pace()
        return True

    def end_sections(self) -> None:
        """Ends the sections that are still open."""
        for section in self._open.values():
            self.show(section.ending())
        self._open.clear()

    def close(self, error: Exception | None = None) -> None:
        """Ends the streams of the readers after what they have not taken."""
        for reader in self._readers:
            reader.close(error)

    async def _pace(self) -> None:
        """Lets the readers write a chunk before the next one is made.

        In a long answer the chunks that are made within the time of one write leave together:
        most of what a chunk costs is waking its reader. An agent that awaits anything between
        two chunks gives the readers that time anyway.
        """
        if not self._readers:
            return
        self._chunks += 1
        if self._chunks > _CHUNKS_SINGLY and time.monotonic() - self._last_pass < _WRITE_SECONDS:
            return
        for _ in range(_LOOP_PASSES):
            if not any(reader.behind for reader in self._readers):
                break
            await asyncio.sleep(0)
        self._last_pass = time.monotonic()
