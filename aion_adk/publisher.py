"""The only way out: stamps what a turn says and puts it onto the event queue."""

from collections.abc import Callable, Iterable

from a2a.server.events import Event, EventQueue
from a2a.types import (
    Artifact,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import Struct

from aion_adk.outcome import Outcome
from aion_adk.stamp import Stamp
from aion_adk.stream import DeltaSections
from aion_adk.turn import DeltaEnd, Outgoing, TextDelta

KeepText = Callable[[str, str], bool]
"""Takes a chunk, by its artifact's id, that nobody reads along; says whether that is so."""


class Publisher:
    """Publishes the events of one task in the order that A2A asks for."""

    def __init__(
        self,
        queue: EventQueue,
        stamp: Stamp,
        *,
        artifact_ids: Iterable[str],
        shows_text_in_flight: bool = True,
        keep_text: KeepText | None = None,
    ) -> None:
        self._queue = queue
        self._stamp = stamp
        self._sections = DeltaSections(task_id=stamp.task_id, context_id=stamp.context_id)
        self._artifact_ids = set(artifact_ids)
        self._shows_text_in_flight = shows_text_in_flight
        self._keep_text = keep_text
        self._held: Task | None = None
        self.deltas = 0

    @property
    def has_artifacts(self) -> bool:
        return bool(self._artifact_ids)

    async def start(self, task: Task) -> None:
        await self._send(task)

    def hold(self, task: Task) -> None:
        """Starts with the first thing to say, so that a bare Message can still be the answer."""
        self._held = task

    async def release(self) -> None:
        """Publishes the task that is held, if one is."""
        if self._held is not None:
            task, self._held = self._held, None
            await self._queue.enqueue_event(task)

    async def go_on(self) -> None:
        """WORKING, for a task that the caller knows already."""
        await self._publish_status(TaskState.TASK_STATE_WORKING, metadata=Struct())

    async def deliver(self, item: Outgoing) -> None:
        match item:
            case TextDelta():
                if self._shows_text_in_flight:
                    self.deltas += 1
                    if not self._is_kept(item):
                        await self._send(self._sections.text(item))
            case DeltaEnd():
                if update := self._sections.end(item.key):
                    await self._send(update)
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
            await self._send(update)

    async def conclude(self, outcome: Outcome) -> None:
        """Earlier messages, artifacts, and the one status that ends the turn; or a bare Message."""
        if self._held is not None and _is_bare_message(outcome):
            await self._queue.enqueue_event(self._stamp.direct_message(outcome.messages[0]))
            return
        for message in outcome.messages[:-1]:
            await self._publish_status(TaskState.TASK_STATE_WORKING, message=message)
        for artifact in outcome.artifacts:
            await self._publish_artifact(artifact)
        final = outcome.messages[-1] if outcome.messages else None
        await self._publish_status(outcome.state, message=final, metadata=outcome.metadata)

    def _is_kept(self, delta: TextDelta) -> bool:
        """Whether the chunk needs no event, because nobody reads along."""
        artifact_id = self._sections.open_id(delta.key)
        return bool(self._keep_text and artifact_id and self._keep_text(artifact_id, delta.text))

    async def _send(self, event: Event) -> None:
        await self.release()
        await self._queue.enqueue_event(event)

    async def _publish_status(
        self, state: TaskState, *, message: Message | None = None, metadata: Struct | None = None
    ) -> None:
        update = self._stamp.status_update(state, message=message, metadata=metadata)
        await self._send(update)

    async def _publish_artifact(
        self, artifact: Artifact, *, append: bool = False, last_chunk: bool = True
    ) -> None:
        stamped = self._stamp.artifact(artifact)
        # a2a-sdk rejects append=True before the artifact exists
        append = append and stamped.artifact_id in self._artifact_ids
        self._artifact_ids.add(stamped.artifact_id)
        update = self._stamp.artifact_update(stamped, append=append, last_chunk=last_chunk)
        await self._send(update)


def _is_bare_message(outcome: Outcome) -> bool:
    alone = len(outcome.messages) == 1 and not outcome.artifacts and outcome.metadata is None
    return outcome.direct and alone
