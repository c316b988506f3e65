"""Sends the output of a run, in order and stamped."""

import asyncio
import itertools
import logging
import threading
from collections import deque
from collections.abc import Iterable

from a2a.server.agent_execution import RequestContext
from a2a.server.events import Event, EventQueue
from a2a.types import (
    Artifact,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import Struct

from aion_adk.context.turn import SectionEnd, SectionKey, TextChunk, TurnOutput
from aion_adk.execution.outcome import Outcome
from aion_adk.protocol.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.protocol.parts import ADK_THOUGHT, STREAM_DELTA, STREAM_DELTA_NAME, STREAM_THOUGHT
from aion_adk.protocol.stamp import Stamp, TaskQueue
from aion_adk.protocol.structs import to_struct

logger = logging.getLogger(__name__)

_STREAMING_METHODS = frozenset({"SendStreamingMessage", "message/stream"})

CHUNK_METADATA = to_struct({CANONICAL_TYPE: CanonicalType.TEXT_CHUNK})
THOUGHT_METADATA = to_struct({ADK_THOUGHT: True})


class ForeignQueue(TaskQueue):
    """The queue of any other handler as a `TaskQueue`: the task is announced here.

    Such a handler does not say whether the client streams, but a2a-sdk names the method. If it does
    not, streamed text would stay in the task that is returned.
    """

    def __init__(self, queue: EventQueue, stamp: Stamp, context: RequestContext) -> None:
        self.stamp = stamp
        self.streaming = context.call_context.state.get("method") in _STREAMING_METHODS
        self._queue = queue
        self._held: Task | None = None

    async def announce(self, task: Task | None, *, hold: bool) -> None:
        """The new task, or WORKING for a task that goes on. With `hold` the task waits for the
        first event, which may be a bare Message in its place."""
        if task is None:
            working = self.stamp.status_update(TaskState.TASK_STATE_WORKING, metadata=Struct())
            await self._queue.enqueue_event(working)
        elif hold:
            self._held = task
        else:
            await self._queue.enqueue_event(task)

    async def announce_held(self) -> None:
        """Announces a task that still waits."""
        if self._held is not None:
            task, self._held = self._held, None
            await self._queue.enqueue_event(task)

    async def enqueue_event(self, event: Event) -> None:
        if not isinstance(event, Message):
            await self.announce_held()
        await self._queue.enqueue_event(event)

    async def show_text(self, update: TaskArtifactUpdateEvent) -> None:
        if self.streaming:
            await self.enqueue_event(update)

    async def add_text(self, artifact_id: str, chunk: str) -> bool:
        return False


class SectionArtifacts:
    """The sections of streamed text that are open, each with an artifact of its own."""

    def __init__(self, stamp: Stamp) -> None:
        self._stamp = stamp
        self._open: dict[SectionKey, str] = {}

    def text(self, chunk: TextChunk) -> TaskArtifactUpdateEvent:
        # a2a-sdk rejects append=True before the artifact exists
        append = chunk.key in self._open
        if not append:
            self._open[chunk.key] = self._free_id(chunk)
        part = Part(text=chunk.text, metadata=THOUGHT_METADATA if chunk.thought else None)
        return self._update(self._open[chunk.key], [part], append=append)

    def open_id(self, key: SectionKey) -> str | None:
        """The artifact of a section that has begun."""
        return self._open.get(key)

    def end(self, key: SectionKey) -> TaskArtifactUpdateEvent | None:
        artifact_id = self._open.pop(key, None)
        if artifact_id is None:
            return None
        return self._update(artifact_id, [], append=True, last_chunk=True)

    def end_all(self) -> list[TaskArtifactUpdateEvent]:
        return [update for key in list(self._open) if (update := self.end(key))]

    def _free_id(self, chunk: TextChunk) -> str:
        base = STREAM_THOUGHT if chunk.thought else STREAM_DELTA
        named = f"{base}:{chunk.key[0]}"
        wanted = itertools.chain((base, named), (f"{named}:{n}" for n in itertools.count(2)))
        return next(artifact_id for artifact_id in wanted if artifact_id not in self._open.values())

    def _update(
        self, artifact_id: str, parts: list[Part], *, append: bool, last_chunk: bool = False
    ) -> TaskArtifactUpdateEvent:
        metadata = None if append else CHUNK_METADATA
        artifact = Artifact(
            artifact_id=artifact_id, name=STREAM_DELTA_NAME, parts=parts, metadata=metadata
        )
        return self._stamp.artifact_update(artifact, append=append, last_chunk=last_chunk)


class Publisher:
    """Publishes the events of one task in the order that A2A asks for."""

    def __init__(
        self, queue: TaskQueue, *, artifact_ids: Iterable[str], may_be_direct: bool
    ) -> None:
        self._queue = queue
        self._stamp = queue.stamp
        self._may_be_direct = may_be_direct
        self._sections = SectionArtifacts(queue.stamp)
        self.artifact_ids = set(artifact_ids)
        self.chunks = 0

    async def publish(self, item: TurnOutput) -> None:
        match item:
            case TextChunk():
                self.chunks += 1
                artifact_id = self._sections.open_id(item.key)
                # A section that has begun needs no event for each chunk.
                if not artifact_id or not await self._queue.add_text(artifact_id, item.text):
                    await self._queue.show_text(self._sections.text(item))
            case SectionEnd():
                if update := self._sections.end(item.key):
                    await self._queue.show_text(update)
            case TaskStatusUpdateEvent(status=status):
                message = status.message if status.HasField("message") else None
                metadata = item.metadata if item.HasField("metadata") else None
                await self._publish_status(status.state, message=message, metadata=metadata)
            case TaskArtifactUpdateEvent():
                await self._publish_artifact(
                    item.artifact, append=item.append, last_chunk=item.last_chunk
                )

    async def end_sections(self) -> None:
        for update in self._sections.end_all():
            await self._queue.show_text(update)

    async def conclude(self, outcome: Outcome) -> None:
        """Earlier messages, artifacts, and the one status that ends the turn; or a bare Message."""
        alone = len(outcome.messages) == 1 and not outcome.artifacts and outcome.metadata is None
        # A handler that has announced the task makes a bare Message its last status.
        if outcome.direct and alone and self._may_be_direct:
            await self._queue.enqueue_event(self._stamp.direct_message(outcome.messages[0]))
            return
        for message in outcome.messages[:-1]:
            await self._publish_status(TaskState.TASK_STATE_WORKING, message=message)
        for artifact in outcome.artifacts:
            await self._publish_artifact(artifact)
        final = outcome.messages[-1] if outcome.messages else None
        await self._publish_status(outcome.state, message=final, metadata=outcome.metadata)

    async def _publish_status(
        self, state: TaskState, *, message: Message | None = None, metadata: Struct | None = None
    ) -> None:
        update = self._stamp.status_update(state, message=message, metadata=metadata)
        await self._queue.enqueue_event(update)

    async def _publish_artifact(
        self, artifact: Artifact, *, append: bool = False, last_chunk: bool = True
    ) -> None:
        stamped = self._stamp.artifact(artifact)
        # a2a-sdk rejects append=True before the artifact exists
        append = append and stamped.artifact_id in self.artifact_ids
        self.artifact_ids.add(stamped.artifact_id)
        update = self._stamp.artifact_update(stamped, append=append, last_chunk=last_chunk)
        await self._queue.enqueue_event(update)


class TurnQueue:
    """Hands what a turn sends to its publisher, one at a time, from any thread."""

    def __init__(self, publisher: Publisher, *, task_id: str) -> None:
        self._publisher = publisher
        self._task_id = task_id
        self._waiting: deque[TurnOutput] = deque()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._sending = asyncio.Lock()
        self._flusher: asyncio.Task[None] | None = None
        self.closed = False

    def publish(self, item: TurnOutput) -> None:
        if threading.get_ident() != self._thread:
            try:
                self._loop.call_soon_threadsafe(self.publish, item)
            except RuntimeError:  # the loop is closed: the server has stopped, the thread has not
                self._drop(item)
        elif self.closed:
            self._drop(item)
        else:
            self._waiting.append(item)
            if self._flusher is None or self._flusher.done():
                self._flusher = self._loop.create_task(self._send())

    async def send(self, *items: TurnOutput) -> None:
        if threading.get_ident() == self._thread:
            await self._send(*items)
        else:
            sent = asyncio.run_coroutine_threadsafe(self._send(*items), self._loop)
            await asyncio.wrap_future(sent)

    async def close(self) -> None:
        """Sends what is queued and takes nothing more."""
        await self._send()
        self.closed = True

    async def _send(self, *items: TurnOutput) -> None:
        if self.closed:
            for item in items:
                self._drop(item)
            return
        self._waiting.extend(items)
        async with self._sending:
            while self._waiting:
                await self._publisher.publish(self._waiting.popleft())

    def _drop(self, item: TurnOutput) -> None:
        logger.debug("task %s is over; dropped %s", self._task_id, type(item).__name__)
