"""Stored tasks, each with a run of this process or with an end."""

from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.types import Task
from a2a.utils.errors import TaskNotFoundError

from aion_adk.runs import Runs
from aion_adk.snapshot import SETTLED_STATES

_INTERRUPTED = "The run was interrupted by a restart of the server."


class FoundTasks:
    """With `durable`, a task that is shown at work without a run here ends FAILED when found."""

    def __init__(self, tasks: VersionedTaskStore, runs: Runs, *, durable: bool) -> None:
        self._tasks = tasks
        self._runs = runs
        self._durable = durable

    async def named(self, task_id: str, context: ServerCallContext) -> Task:
        """The task that a call names; an error if the caller has none of that id."""
        task = await self.get(task_id, context)
        if task is None:
            raise TaskNotFoundError(f"Task {task_id} not found.")
        return task

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        stored = await self._tasks.get(task_id, context)
        if stored is None:
            return None
        task = stored.task
        left_behind = self._durable and self._runs.of(task_id) is None
        if left_behind and task.status.state not in SETTLED_STATES:
            return await self._end_interrupted(task, context)
        return task

    async def _end_interrupted(self, task: Task, context: ServerCallContext) -> Task:
        """Ends a task whose run was lost with the process that ran it."""
        run = self._runs.parked(task, context)
        fresh = await run.load() or task
        if fresh.status.state in SETTLED_STATES:
            return fresh
        run.resume(fresh)
        await run.fail(_INTERRUPTED)
        return run.task or fresh
