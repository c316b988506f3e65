"""Which messages a context took before this process began, asked once of a durable store."""

import asyncio
from collections import OrderedDict

from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest

from aion_adk.ledger import Ledger

_NEWEST_TASKS = 50


class Recall:
    """Enters the messages of a context's newest tasks into the ledger, once for each context."""

    def __init__(self, store: VersionedTaskStore, ledger: Ledger, *, most: int) -> None:
        self._store = store
        self._ledger = ledger
        self._most = most
        self._asked: OrderedDict[tuple[str, str], asyncio.Task[None]] = OrderedDict()

    async def context(self, owner: str, context_id: str, context: ServerCallContext) -> None:
        key = (owner, context_id)
        asking = self._asked.get(key)
        if asking is None:
            asking = asyncio.create_task(self._ask(owner, context_id, context))
            self._asked[key] = asking
            if len(self._asked) > self._most:
                self._asked.popitem(last=False)
        try:
            await asyncio.shield(asking)
        except Exception:
            self._asked.pop(key, None)
            raise

    async def _ask(self, owner: str, context_id: str, context: ServerCallContext) -> None:
        request = ListTasksRequest(context_id=context_id, page_size=_NEWEST_TASKS)
        page = await self._store.list(request, context)
        for task in page.tasks:
            self._ledger.learn(owner, task)
