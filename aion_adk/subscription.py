"""What one reader of a run has not taken yet, in bounded memory."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator

from a2a.server.events import Event
from a2a.types import Artifact, TaskArtifactUpdateEvent
from a2a.utils.errors import InternalError

from aion_adk.parts import is_transitory

MOST_BYTES = 8 * 1024 * 1024
"""What may wait for a reader; one event alone may be larger, whatever its agent made it."""

MOST_BYTES_A_PIECE = 256 * 1024
"""Text is merged into pieces of about this size: each is copied several times when written."""

_OVERHEAD = 1024


class _Text:
    """Consecutive chunks of one section, joined when the reader comes for them."""

    __slots__ = ("artifact_id", "bytes", "chunks", "first")

    def __init__(self, first: TaskArtifactUpdateEvent, artifact_id: str) -> None:
        self.first = first
        self.artifact_id = artifact_id
        self.chunks: list[str] = []
        self.bytes = _OVERHEAD

    def joined(self) -> TaskArtifactUpdateEvent:
        if len(self.chunks) == 1:
            return self.first
        joined = TaskArtifactUpdateEvent()
        joined.CopyFrom(self.first)
        joined.artifact.parts[0].text = "".join(self.chunks)
        return joined


class Subscription:
    """A reader's buffer: text it has not taken is merged, everything else is kept in order.

    A reader so slow that even this grows past `most_bytes` gets an error and no more events.
    """

    def __init__(self, *, most_bytes: int = MOST_BYTES) -> None:
        self._waiting: deque[Event | _Text] = deque()
        self._mergeable: dict[str, _Text] = {}
        self._bytes = 0
        self._most_bytes = most_bytes
        self._closed = False
        self._error: Exception | None = None
        self._wakeup: asyncio.Future[None] | None = None

    @property
    def behind(self) -> bool:
        """Whether there is something the reader has not taken."""
        return bool(self._waiting)

    def push(self, event: Event) -> None:
        if self._closed:
            return
        if isinstance(event, TaskArtifactUpdateEvent) and (text := _chunk_of(event.artifact)):
            self._push_text(event, text)
        else:
            self._mergeable.clear()
            self._bytes += _size_of(event)
            self._waiting.append(event)
        if self._bytes > self._most_bytes and len(self._waiting) > 1:
            self._overflow()
        self._wake()

    def close(self, error: Exception | None = None) -> None:
        """Ends the stream after what is waiting, with `error` if one is given."""
        if not self._closed:
            self._closed = True
            self._error = error
            self._wake()

    async def events(self) -> AsyncIterator[Event]:
        while True:
            while self._waiting:
                yield self._pop()
            if self._closed:
                if self._error:
                    raise self._error
                return
            self._wakeup = asyncio.get_running_loop().create_future()
            try:
                await self._wakeup
            finally:
                self._wakeup = None

    def _push_text(self, event: TaskArtifactUpdateEvent, text: str) -> None:
        artifact_id = event.artifact.artifact_id
        pending = self._mergeable.get(artifact_id)
        if pending is None or not event.append or pending.bytes > MOST_BYTES_A_PIECE:
            pending = _Text(event, artifact_id)
            self._mergeable[artifact_id] = pending
            self._waiting.append(pending)
            self._bytes += _OVERHEAD
        # A short string costs many times its length.
        size = sys.getsizeof(text)
        pending.chunks.append(text)
        pending.bytes += size
        self._bytes += size

    def _pop(self) -> Event:
        item = self._waiting.popleft()
        if isinstance(item, _Text):
            self._bytes -= item.bytes
            if self._mergeable.get(item.artifact_id) is item:
                del self._mergeable[item.artifact_id]
            return item.joined()
        self._bytes -= _size_of(item)
        return item

    def _overflow(self) -> None:
        self._waiting.clear()
        self._mergeable.clear()
        self.close(InternalError("The stream was closed because its reader was too slow."))

    def _wake(self) -> None:
        if self._wakeup and not self._wakeup.done():
            self._wakeup.set_result(None)


def _size_of(event: Event) -> int:
    return _OVERHEAD + event.ByteSize()


def _chunk_of(artifact: Artifact) -> str:
    """The text of a chunk in flight; none for anything that is kept as it is."""
    parts = artifact.parts
    return parts[0].text if len(parts) == 1 and is_transitory(artifact.artifact_id) else ""
