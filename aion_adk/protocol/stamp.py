"""What the server alone decides of everything that leaves: ids, role, time, protected keys."""

import copy
import logging
import time
import uuid
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.types import (
    Artifact,
    Message,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import NULL_VALUE, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from aion_adk.errors import log_failure
from aion_adk.protocol.canonical import declare_canonical_type
from aion_adk.protocol.structs import (
    MAX_LEVELS,
    drop_protected,
    is_protected,
    to_struct,
    unwritable_values,
)
from aion_adk.protocol.task_state import add_to_history

logger = logging.getLogger(__name__)

Content = TypeVar("Content", Message, Artifact)

ADK_EXTENSION = "https://google.github.io/adk-docs/a2a/a2a-extension/"
"""In a task's metadata: the task is written for ADK's own client, `RemoteA2aAgent`.

That client reads the artifacts of a finished task and, if there are any, nothing else. Where the
metadata does not name the extension it also repeats the last message of the history when a task
goes on, a question that has been answered included.
"""

# The client cannot send the extension's header with a2a-sdk 1.x; it marks its parts with this.
_USER_INPUT = "is_user_input"


def new_id() -> str:
    return str(uuid.uuid4())


def now() -> Timestamp:
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return Timestamp(seconds=seconds, nanos=nanoseconds // 1000 * 1000)


def without_protected(content: Content) -> Content:
    """A copy whose metadata holds no key that only a server may set."""
    cleaned = copy.deepcopy(content)
    for holder in (cleaned, *cleaned.parts):
        if holder.HasField("metadata"):
            drop_protected(holder.metadata)
    return cleaned


def join_history(task: Task, message: Message) -> None:
    """Adds an inbound message to the history of its task, unless it is there already."""
    add_to_history(task, without_protected(message))


def unwritable_values_of(content: Message | Artifact) -> Iterator[Value]:
    """The values in data and metadata that no transport could write as JSON."""
    for holder in (content, *content.parts):
        if holder.HasField("metadata"):
            yield from unwritable_values(holder.metadata.fields.values())
    if data := [part.data for part in content.parts if part.HasField("data")]:
        yield from unwritable_values(data)


def is_adk_client(context: RequestContext) -> bool:
    if ADK_EXTENSION in context.requested_extensions:
        return True
    if context.current_task and ADK_EXTENSION in context.current_task.metadata.fields:
        return True
    message = context.message or Message()
    return any(_USER_INPUT in part.metadata.fields for part in message.parts)


ServerMetadata = Mapping[str, Any] | Callable[[RequestContext], Mapping[str, Any]]
"""Stamped on tasks and on the agent's messages, or a function of the request that returns it."""


class StampOptions:
    """The server's options for everything that leaves, from which each request gets its stamp."""

    def __init__(
        self, metadata: ServerMetadata | None = None, *, canonical_types: bool = True
    ) -> None:
        self._metadata = metadata if callable(metadata) else _sent_fields(metadata)
        self._canonical_types = canonical_types

    def of(self, context: RequestContext) -> "Stamp":
        metadata = self._metadata
        if callable(metadata):
            try:
                metadata = _sent_fields(metadata(context))
            except Exception as error:
                if context.message is not None:
                    raise
                # The server ends a task by itself, which must not fail for want of metadata.
                log_failure(logger, "server_metadata failed where there is no message", error)
                metadata = None
        return Stamp(
            task_id=context.task_id or "",
            context_id=context.context_id or "",
            metadata=metadata,
            canonical_types=self._canonical_types,
            for_adk_client=is_adk_client(context),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Copies what an agent made and sets the fields that are the server's."""

    task_id: str
    context_id: str
    metadata: Struct | None = None
    canonical_types: bool = True
    for_adk_client: bool = False

    def message(self, message: Message) -> Message:
        stamped = without_protected(message)
        stamped.task_id = self.task_id
        stamped.context_id = self.context_id
        stamped.role = Role.ROLE_AGENT
        stamped.message_id = stamped.message_id or new_id()
        _make_null(unwritable_values_of(stamped))
        if self.canonical_types:
            declare_canonical_type(stamped)
        self._stamp_metadata(stamped)
        return stamped

    def direct_message(self, message: Message) -> Message:
        """An answer with no task around it; the context goes on."""
        stamped = self.message(message)
        stamped.task_id = ""
        return stamped

    def artifact(self, artifact: Artifact) -> Artifact:
        stamped = without_protected(artifact)
        stamped.artifact_id = stamped.artifact_id or new_id()
        if is_protected(stamped.artifact_id):
            # It could be taken for one of the server's, such as that of text in flight.
            stamped.artifact_id = f"_{stamped.artifact_id}"
        _make_null(unwritable_values_of(stamped))
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
            _make_null(unwritable_values(update.metadata.fields.values()))
            self._stamp_metadata(update)
        return update

    def new_task(self, message: Message) -> Task:
        task = Task(
            id=self.task_id,
            context_id=self.context_id,
            status=TaskStatus(state=TaskState.TASK_STATE_WORKING, timestamp=now()),
        )
        self._stamp_metadata(task)
        if self.for_adk_client:
            task.metadata[ADK_EXTENSION] = True
        join_history(task, message)
        return task

    def _stamp_metadata(self, target: Message | Task | TaskStatusUpdateEvent) -> None:
        if self.metadata is not None:
            target.metadata.MergeFrom(self.metadata)


class TaskQueue(EventQueue):
    """What a run publishes to; a handler's own queue if the handler makes and ends its tasks."""

    stamp: Stamp
    streaming: bool
    """Whether the caller reads a stream."""

    @abstractmethod
    async def show_text(self, update: TaskArtifactUpdateEvent) -> None:
        """Shows an update of text in flight: the first chunk of a section, or its end."""

    @abstractmethod
    async def add_text(self, artifact_id: str, chunk: str) -> bool:
        """Shows one more chunk of an open section; False if no such section is open."""


def _sent_fields(server_metadata: Mapping[str, Any] | None) -> Struct | None:
    if not server_metadata:
        return None
    try:
        fields = to_struct(server_metadata)
    except TypeError as error:
        raise TypeError(f"server_metadata: {error}") from error
    if list(unwritable_values(fields.fields.values())):
        raise ValueError(
            f"server_metadata must be JSON of at most {MAX_LEVELS} levels without NaN and infinity,"
            f" got {server_metadata!r}"
        )
    return fields


def _make_null(values: Iterable[Value]) -> None:
    """Makes them null, as most JSON writers do; a task that cannot be written would be lost."""
    for value in list(values):
        value.null_value = NULL_VALUE
