"""One run of an executor: the live task, who reads it, and how it ends."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable

from a2a.server.agent_execution import AgentExecutor, RequestContext
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
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from aion_adk.delta import STREAM_DELTA_NAME, is_transitory
from aion_adk.outbound import text_message
from aion_adk.stamp import Stamp, new_id, without_protected
from aion_adk.stream import CHUNK_METADATA
from aion_adk.subscription import Subscription

logger = logging.getLogger(__name__)

TERMINAL_STATES = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
SETTLED_STATES = TERMINAL_STATES | {
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED,
}

SECONDS_TO_STOP = 6.0
_TURNS_FOR_READERS = 3

Save = Callable[[Task], Awaitable[None]]
Notify = Callable[[Event], None]


class Run(EventQueue):
    """The queue an executor publishes to, with no queue in it: each event is applied and passed on.

    Terminal is final: whatever is published after it is dropped. Text in flight goes to the
    readers and is kept only until its section ends, for readers that join late. `first` and
    `settled` hold what a caller that does not stream is answered with.
    """

    def __init__(
        self, context: RequestContext, *, save: Save, notify: Notify, final_task: bool = False
    ) -> None:
        self.context = context
        self.task: Task | None = None
        self.first: asyncio.Future[Task | Message] = asyncio.get_running_loop().create_future()
        self.settled: asyncio.Future[Task | Message] = asyncio.get_running_loop().create_future()
        self._save = save
        self._notify = notify
        self._final_task = final_task
        self._readers: list[Subscription] = []
        self._deltas: dict[str, list[str]] = {}
        self._applying = asyncio.Lock()
        self._worker: asyncio.Task[None] | None = None

    @property
    def task_id(self) -> str:
        return self.context.task_id or ""

    @property
    def ingested(self) -> bool:
        """Whether the message became part of a task."""
        return self.first.done() and self.first.exception() is None

    @property
    def worker(self) -> asyncio.Task[None] | None:
        return self._worker

    def start(self, execute: Callable[["Run"], Awaitable[None]]) -> asyncio.Task[None]:
        self._worker = asyncio.create_task(self._work(execute))
        return self._worker

    def resume(self, task: Task) -> None:
        """Goes on with a stored task: the inbound message joins its history."""
        self.task = copy_of(task)
        status = self.task.status
        if status.HasField("message"):
            _add_to_history(self.task, status.message)
        if self.context.message is not None:
            _add_to_history(self.task, without_protected(self.context.message))

    async def enqueue_event(self, event: Event) -> None:
        if self.settled.done():
            logger.debug("task %s is settled; dropped %s", self.task_id, type(event).__name__)
        elif isinstance(event, Message):
            self._answer_directly(event)
        elif isinstance(event, TaskArtifactUpdateEvent) and is_transitory(
            event.artifact.artifact_id
        ):
            await self._pass_text(event)
        else:
            await self._apply(event)

    async def cancel(self, executor: AgentExecutor) -> None:
        """Stops the work and ends the task CANCELED, unless it ended before."""
        await self._stop()
        try:
            await executor.cancel(self.context, self)
        except Exception:
            logger.exception("task %s: the executor's cancel failed", self.task_id)
        await self.enqueue_event(self._stamp.status_update(TaskState.TASK_STATE_CANCELED))

    async def fail(self, text: str) -> None:
        """Stops the work and ends the task FAILED with `text`, unless it ended before."""
        await self._stop()
        await self._end_failed(text)

    async def events(self) -> AsyncGenerator[Event, None]:
        """The current task, the text still in flight, then everything that follows."""
        reader = Subscription()
        if self.first.done() and self.task is not None:
            reader.push(copy_of(self.task))
            for artifact_id, chunks in self._deltas.items():
                reader.push(self._text_so_far(artifact_id, chunks))
        if self.settled.done():
            reader.close(_failure_of(self.settled))
        self._readers.append(reader)
        try:
            async for event in reader.events():
                yield event
        finally:
            self._readers.remove(reader)

    @property
    def _stamp(self) -> Stamp:
        return Stamp(task_id=self.task_id, context_id=self.context.context_id or "")

    async def _work(self, execute: Callable[["Run"], Awaitable[None]]) -> None:
        try:
            await execute(self)
        except A2AError as error:
            await self._end_with(error)
        except Exception:
            error_id = new_id()
            logger.exception("task %s failed, error id %s", self.task_id, error_id)
            await self._end_with(InternalError(f"Internal error. Error id: {error_id}"))
        else:
            await self._end_with(InvalidAgentResponseError("The agent ended without a result."))

    async def _end_with(self, error: A2AError) -> None:
        """The end of a run that did not settle: FAILED if there is a task, else an error."""
        if self.settled.done():
            return
        if self.first.done():
            await self._end_failed(str(error))
        else:
            self._settle(error)

    async def _end_failed(self, text: str) -> None:
        message = text_message(text, message_id=new_id())
        await self.enqueue_event(
            self._stamp.status_update(TaskState.TASK_STATE_FAILED, message=message)
        )

    async def _stop(self) -> None:
        if self._worker and not self._worker.done():
            self._worker.cancel()
            await asyncio.wait({self._worker}, timeout=SECONDS_TO_STOP)

    async def _apply(self, event: Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
        async with self._applying:
            if self.settled.done():
                return
            task = self._updated(event)
            try:
                await self._save(task)
            except Exception:
                error_id = new_id()
                logger.exception("task %s not saved, error id %s", self.task_id, error_id)
                self._settle(InternalError(f"The task could not be saved. Error id: {error_id}"))
                return
            self.task = task
            self._hand_on(event, task)

    def _updated(self, event: Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> Task:
        if isinstance(event, Task):
            return copy_of(event)
        if self.task is None:
            raise InvalidAgentResponseError("The first event of a run must be a Task or a Message.")
        task = self.task
        if isinstance(event, TaskArtifactUpdateEvent):
            apply_artifact(task, event)
        else:
            apply_status(task, event)
        return task

    def _hand_on(
        self, event: Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent, task: Task
    ) -> None:
        state = task.status.state
        settled = not isinstance(event, TaskArtifactUpdateEvent) and state in SETTLED_STATES
        whole = not self.first.done() or (self._final_task and state in TERMINAL_STATES)
        shown = copy_of(task) if whole else event
        if not self.first.done():
            self.first.set_result(copy_of(task))
        self._notify(event)
        self._show(shown)
        if settled:
            self._settle(copy_of(task))

    def _settle(self, result: Task | Message | Exception) -> None:
        for future in (self.first, self.settled):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
                future.exception()  # a caller may be gone; its exception is not unhandled then
            else:
                future.set_result(result)
        for reader in self._readers:
            reader.close(result if isinstance(result, Exception) else None)

    def _answer_directly(self, message: Message) -> None:
        if self.first.done() or self.task is not None:
            raise InvalidAgentResponseError("A Message cannot follow a Task.")
        self._show(message)
        self._settle(message)

    async def _pass_text(self, event: TaskArtifactUpdateEvent) -> None:
        artifact_id = event.artifact.artifact_id
        if event.last_chunk:
            self._deltas.pop(artifact_id, None)
        else:
            chunks = self._deltas.setdefault(artifact_id, [])
            if not event.append:
                chunks.clear()
            chunks.extend(part.text for part in event.artifact.parts)
        self._show(event)
        await self._let_readers_take_it()

    async def _let_readers_take_it(self) -> None:
        """A chunk leaves before the next one is made, unless its reader is still writing."""
        for _ in range(_TURNS_FOR_READERS):
            if not any(reader.behind for reader in self._readers):
                return
            await asyncio.sleep(0)

    def _show(self, event: Event) -> None:
        for reader in self._readers:
            reader.push(event)

    def _text_so_far(self, artifact_id: str, chunks: list[str]) -> TaskArtifactUpdateEvent:
        text = Part(text="".join(chunks))
        return TaskArtifactUpdateEvent(
            task_id=self.task_id,
            context_id=self.context.context_id,
            artifact=Artifact(
                artifact_id=artifact_id,
                name=STREAM_DELTA_NAME,
                parts=[text],
                metadata=CHUNK_METADATA,
            ),
        )


def _failure_of(future: asyncio.Future[Task | Message]) -> Exception | None:
    error = future.exception()
    return error if isinstance(error, Exception) else None


def copy_of(task: Task) -> Task:
    copy = Task()
    copy.CopyFrom(task)
    return copy


def apply_status(task: Task, event: TaskStatusUpdateEvent) -> None:
    """Every message joins the history when it comes, the last one stays on the status too."""
    task.status.CopyFrom(event.status)
    if event.status.HasField("message"):
        _add_to_history(task, event.status.message)
    if event.HasField("metadata"):
        task.metadata.MergeFrom(event.metadata)


def apply_artifact(task: Task, event: TaskArtifactUpdateEvent) -> None:
    for artifact in task.artifacts:
        if artifact.artifact_id != event.artifact.artifact_id:
            continue
        if event.append:
            artifact.parts.extend(event.artifact.parts)
            artifact.metadata.MergeFrom(event.artifact.metadata)
        else:
            artifact.CopyFrom(event.artifact)
        return
    if event.append:
        raise InvalidAgentResponseError("append=True for an artifact the task does not have.")
    task.artifacts.append(event.artifact)


def _add_to_history(task: Task, message: Message) -> None:
    if all(known.message_id != message.message_id for known in task.history):
        task.history.append(message)
