"""Which messages have been taken, so that none is taken twice."""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, Message, Role

from aion_adk.tasks.task_run import TaskRun


class MessageKey(NamedTuple):
    owner: str
    context_id: str
    message_id: str


Taken = TaskRun | Message | str
"""What became of a message: a run in flight, a bare answer, or the id of its task."""

_NEWEST_TASKS = 50


class SeenMessages:
    """Remembers the newest messages; looks up those of an earlier process once for each context."""

    def __init__(self, *, most: int) -> None:
        self._taken: OrderedDict[MessageKey, Taken] = OrderedDict()
        self._recalled: OrderedDict[tuple[str, str], asyncio.Task[None]] = OrderedDict()
        self._most = most

    def get(self, key: MessageKey) -> Taken | None:
        taken = self._taken.get(key)
        if isinstance(taken, TaskRun) and taken.over and taken.result is None:
            return None
        return taken

    def note(self, key: MessageKey, taken: Taken) -> None:
        self._taken[key] = taken
        self._taken.move_to_end(key)
        while len(self._taken) > self._most:
            self._taken.popitem(last=False)

    def finish(self, key: MessageKey, run: TaskRun) -> None:
        """Keeps what the ended run led to; forgets the message if it led to nothing."""
        if self._taken.get(key) is not run:
            return
        result = run.result
        if result is None:
            del self._taken[key]
        else:
            self._taken[key] = result

    def drop(self, key: MessageKey, taken: Taken) -> None:
        if self._taken.get(key) is taken:
            del self._taken[key]

    async def recall(
        self, store: VersionedTaskStore, owner: str, context_id: str, context: ServerCallContext
    ) -> bool:
        """Learns the messages of a context's newest tasks from a store that outlives processes;
        False if that was done before, and nothing had to be waited for."""
        key = (owner, context_id)
        asking = self._recalled.get(key)
        if asking is None:
            asking = asyncio.create_task(self._learn(store, key, context))
            self._recalled[key] = asking
            if len(self._recalled) > self._most:
                self._recalled.popitem(last=False)
        elif asking.done():
            return False
        await asyncio.shield(asking)
        return True

    async def _learn(
        self, store: VersionedTaskStore, key: tuple[str, str], context: ServerCallContext
    ) -> None:
        owner, context_id = key
        request = ListTasksRequest(context_id=context_id, page_size=_NEWEST_TASKS)
        try:
            found = await store.list(request, context)
        except BaseException:
            self._recalled.pop(key, None)  # the next message of the context asks again
            raise
        for task in found.tasks:
            for message in task.history:
                known = MessageKey(owner, task.context_id, message.message_id)
                if message.role == Role.ROLE_USER and known not in self._taken:
                    self.note(known, task.id)
