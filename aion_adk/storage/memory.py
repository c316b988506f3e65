"""Tasks and push configurations in memory, with a bound; another store without streamed text."""

import copy
import time
import zlib
from collections import OrderedDict
from typing import NamedTuple

from a2a.server.cluster import ConcurrentTaskModificationError
from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import OwnerResolver, resolve_user_scope
from a2a.server.tasks import InMemoryTaskStore, PushNotificationConfigStore, TaskStore
from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types import (
    ListTasksRequest,
    ListTasksResponse,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)

from aion_adk.protocol.parts import is_transitory
from aion_adk.protocol.task_state import SETTLED_STATES, TERMINAL_STATES

_LONGEST_PACKED = 64 * 1024


class _Entry(NamedTuple):
    saved: float
    context_id: str
    state: TaskState
    packed: bool
    content: bytes

    @property
    def task(self) -> Task:
        return Task.FromString(zlib.decompress(self.content) if self.packed else self.content)


def _entry_of(task: Task) -> _Entry:
    """Packed once it is settled: its ids and texts occur in it several times."""
    state, content = task.status.state, task.SerializeToString()
    packed = state in SETTLED_STATES and len(content) <= _LONGEST_PACKED
    content = zlib.compress(content) if packed else content
    return _Entry(time.monotonic(), task.context_id, state, packed, content)


class ImmediateTaskStore(TaskStore):
    """A store whose writes never wait: no cancellation can come between one and what follows."""


class MemoryTaskStore(ImmediateTaskStore):
    """Keeps the newest tasks, as bytes; the oldest go first, by count and by age.

    A task at work is not counted out, so that it can be found while it runs. A terminal task
    stays as it is: to write to it is a ConcurrentTaskModificationError.
    """

    def __init__(
        self,
        *,
        most_tasks: int = 10_000,
        longest_seconds: float = 24 * 3600,
        owner_resolver: OwnerResolver = resolve_user_scope,
    ) -> None:
        self._tasks: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._most_tasks = most_tasks
        self._longest_seconds = longest_seconds
        self._owner_of = owner_resolver

    async def save(self, task: Task, context: ServerCallContext) -> None:
        key = (self._owner_of(context), task.id)
        known = self._tasks.get(key)
        if known and known.state in TERMINAL_STATES:
            raise ConcurrentTaskModificationError(task.id)
        self._tasks[key] = _entry_of(_without_streamed_text(task))
        self._tasks.move_to_end(key)
        self._evict()

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        self._evict()
        entry = self._tasks.get((self._owner_of(context), task_id))
        return entry.task if entry else None

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        # Filters, order and page tokens are a2a-sdk's own.
        self._evict()
        owner = self._owner_of(context)
        page = InMemoryTaskStore(owner_resolver=self._owner_of)
        for (task_owner, _), entry in list(self._tasks.items()):
            wanted = not params.context_id or params.context_id == entry.context_id
            wanted = wanted and (not params.status or params.status == entry.state)
            if wanted and task_owner == owner:
                await page.save(entry.task, context)
        return await page.list(params, context)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        self._tasks.pop((self._owner_of(context), task_id), None)

    def _evict(self) -> None:
        oldest = time.monotonic() - self._longest_seconds
        for _ in range(len(self._tasks)):
            key, entry = next(iter(self._tasks.items()))
            too_old = entry.saved <= oldest
            if len(self._tasks) <= self._most_tasks and not too_old:
                return
            if too_old or entry.state in SETTLED_STATES:
                del self._tasks[key]
            else:
                self._tasks.move_to_end(key)


class DurableTaskStore(TaskStore):
    """Another store without the transitory artifacts, for handlers that save every event."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store

    async def save(self, task: Task, context: ServerCallContext) -> None:
        await self._store.save(_without_streamed_text(task), context)

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        return await self._store.get(task_id, context)

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        return await self._store.list(params, context)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        await self._store.delete(task_id, context)


class MemoryPushConfigs(PushNotificationConfigStore):
    """Keeps the newest push configurations."""

    def __init__(self, *, most: int = 10_000) -> None:
        self._configs: OrderedDict[tuple[str, str, str], TaskPushNotificationConfig] = OrderedDict()
        self._of_task: dict[str, set[tuple[str, str, str]]] = {}
        self._most = most

    async def set_info(
        self,
        task_id: str,
        notification_config: TaskPushNotificationConfig,
        context: ServerCallContext,
    ) -> TaskPushNotificationConfig:
        config = normalize_push_notification_config(task_id, notification_config)
        key = (task_id, resolve_user_scope(context), config.id)
        self._configs[key] = config
        self._of_task.setdefault(task_id, set()).add(key)
        while len(self._configs) > self._most:
            self._remove(next(iter(self._configs)))
        return config

    async def get_info(
        self, task_id: str, context: ServerCallContext
    ) -> list[TaskPushNotificationConfig]:
        owner = resolve_user_scope(context)
        return [self._configs[key] for key in self._keys(task_id) if key[1] == owner]

    async def get_info_for_dispatch(self, task_id: str) -> list[TaskPushNotificationConfig]:
        return [self._configs[key] for key in self._keys(task_id)]

    async def delete_info(
        self, task_id: str, context: ServerCallContext, config_id: str | None = None
    ) -> None:
        owner = resolve_user_scope(context)
        for key in self._keys(task_id):
            if key[1] == owner and config_id in (None, key[2]):
                self._remove(key)

    def _keys(self, task_id: str) -> list[tuple[str, str, str]]:
        return sorted(self._of_task.get(task_id, ()))

    def _remove(self, key: tuple[str, str, str]) -> None:
        del self._configs[key]
        self._of_task[key[0]].discard(key)
        if not self._of_task[key[0]]:
            del self._of_task[key[0]]


def _without_streamed_text(task: Task) -> Task:
    if not any(is_transitory(artifact.artifact_id) for artifact in task.artifacts):
        return task
    durable = copy.deepcopy(task)
    kept = [item for item in task.artifacts if not is_transitory(item.artifact_id)]
    del durable.artifacts[:]
    durable.artifacts.extend(kept)
    return durable
