"""What the server alone decides of everything that leaves: ids, role, time, protected keys."""

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import NULL_VALUE, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from aion_adk.formats.canonical import declare_canonical_type
from aion_adk.values import drop_protected, is_protected, misfits_in, to_struct


def new_id() -> str:
    return str(uuid.uuid4())


def now() -> Timestamp:
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return Timestamp(seconds=seconds, nanos=nanoseconds // 1000 * 1000)


def without_protected(message: Message) -> Message:
    """A copy whose metadata holds no key that only a server may set."""
    copy = Message()
    copy.CopyFrom(message)
    _clean(copy)
    _clean_parts(copy.parts)
    return copy


def misfits_of(content: Message | Artifact) -> Iterator[Value]:
    """The values in data and metadata that no transport could write as JSON."""
    for holder in (content, *content.parts):
        if holder.HasField("metadata"):
            yield from _misfits_in_struct(holder.metadata)
    for part in content.parts:
        if part.HasField("data"):
            yield from misfits_in(part.data)


class Stamp:
    """Copies what an agent made and sets the fields that are the server's."""

    def __init__(
        self,
        *,
        task_id: str,
        context_id: str,
        metadata: Mapping[str, Any] | None = None,
        canonical_types: bool = True,
    ) -> None:
        self.task_id = task_id
        self.context_id = context_id
        self._canonical_types = canonical_types
        self.metadata = to_struct(metadata) if metadata else None

    def message(self, message: Message) -> Message:
        stamped = without_protected(message)
        stamped.task_id = self.task_id
        stamped.context_id = self.context_id
        stamped.role = Role.ROLE_AGENT
        stamped.message_id = stamped.message_id or new_id()
        _make_null(misfits_of(stamped))
        if self._canonical_types:
            declare_canonical_type(stamped)
        self._stamp_metadata(stamped)
        return stamped

    def direct_message(self, message: Message) -> Message:
        """An answer with no task around it; the context goes on."""
        stamped = self.message(message)
        stamped.task_id = ""
        return stamped

    def artifact(self, artifact: Artifact) -> Artifact:
        stamped = Artifact()
        stamped.CopyFrom(artifact)
        stamped.artifact_id = _unreserved(stamped.artifact_id) or new_id()
        _clean(stamped)
        _clean_parts(stamped.parts)
        _make_null(misfits_of(stamped))
        return stamped

    def artifact_update(
        self, stamped: Artifact, *, append: bool, last_chunk: bool
    ) -> TaskArtifactUpdateEvent:
        return TaskArtifactUpdateEvent(
            task_id=self.task_id,
            context_id=self.context_id,
            artifact=stamped,
            append=append,
            last_chunk=last_chunk,
        )

    def status_update(
        self, state: TaskState, *, message: Message | None = None, metadata: Struct | None = None
    ) -> TaskStatusUpdateEvent:
        update = TaskStatusUpdateEvent(
            task_id=self.task_id,
            context_id=self.context_id,
            status=TaskStatus(state=state, timestamp=now()),
        )
        if message is not None:
            update.status.message.CopyFrom(self.message(message))
        if metadata is not None:
            update.metadata.CopyFrom(metadata)
            drop_protected(update.metadata)
            _make_null(_misfits_in_struct(update.metadata))
            self._stamp_metadata(update)
        return update

    def new_task(self, message: Message) -> Task:
        task = Task(
            id=self.task_id,
            context_id=self.context_id,
            status=TaskStatus(state=TaskState.TASK_STATE_WORKING, timestamp=now()),
            history=[without_protected(message)],
        )
        self._stamp_metadata(task)
        return task

    def _stamp_metadata(self, target: Message | Task | TaskStatusUpdateEvent) -> None:
        if self.metadata is not None:
            target.metadata.MergeFrom(self.metadata)


def _unreserved(artifact_id: str) -> str:
    """An id that cannot be taken for one of the server's, such as that of text in flight."""
    return f"_{artifact_id}" if is_protected(artifact_id) else artifact_id


def _clean(target: Message | Artifact | Part) -> None:
    if target.HasField("metadata"):
        drop_protected(target.metadata)


def _clean_parts(parts: Iterable[Part]) -> None:
    for part in parts:
        _clean(part)


def _misfits_in_struct(struct: Struct) -> Iterator[Value]:
    for value in struct.fields.values():
        yield from misfits_in(value)


def _make_null(values: Iterable[Value]) -> None:
    """As most JSON writers do with what is no JSON; a task that cannot be written is lost."""
    for value in list(values):
        value.null_value = NULL_VALUE
