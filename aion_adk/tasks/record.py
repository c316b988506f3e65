"""Where one task is stored, with the version it was last read or written at."""

import asyncio

from a2a.server.cluster import LegacyTaskStoreAdapter, TaskVersion, VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import ListTasksRequest, ListTasksResponse, Task

from aion_adk.storage.memory import ImmediateTaskStore


class TaskRecord:
    """A write fails with ConcurrentTaskModificationError when another writer came first."""

    def __init__(self, store: VersionedTaskStore, task_id: str, context: ServerCallContext) -> None:
        self.task_id = task_id
        self._store = store
        self._context = context
        self.task: Task | None = None
        """As it was last read."""
        self._version = TaskVersion.MISSING
        self._immediate = isinstance(store, LegacyTaskStoreAdapter) and isinstance(
            store.store, ImmediateTaskStore
        )

    async def load(self) -> Task | None:
        stored = await self._store.get(self.task_id, self._context)
        if stored is not None:
            self._version = stored.version
        self.task = stored.task if stored else None
        return self.task

    async def save(self, task: Task) -> None:
        """Writes the task; a cancellation on the way is delivered after it."""
        if self._immediate:
            await self._write(task)
            return
        writing = asyncio.create_task(self._write(task))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # What is stored and what its readers know must not diverge.
            await asyncio.wait({writing})
            if current := asyncio.current_task():
                current.uncancel()
                current.cancel()
            writing.result()

    async def _write(self, task: Task) -> None:
        # No event: the store would keep it for other processes to replay.
        self._version = await self._store.save(
            task, event=None, prev=None, prev_version=self._version, context=self._context
        )


class PlainTasks(TaskStore):
    """A versioned store for those who ask for no versions."""

    def __init__(self, store: VersionedTaskStore) -> None:
        self._store = store

    async def save(self, task: Task, context: ServerCallContext) -> None:
        stored = await self._store.get(task.id, context)
        version = stored.version if stored else TaskVersion.MISSING
        await self._store.save(task, event=None, prev=None, prev_version=version, context=context)

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        stored = await self._store.get(task_id, context)
        return stored.task if stored else None

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        return await self._store.list(params, context)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        await self._store.delete(task_id, context)
