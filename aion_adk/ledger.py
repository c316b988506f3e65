"""Which messages have been taken, so that none is taken twice."""

from collections import OrderedDict

from a2a.types import Message, Role, Task

from aion_adk.run import Run

MessageKey = tuple[str, str, str]
"""Owner, context id, message id."""

Taken = Run | Message | str
"""What became of a message: a run in flight, a bare answer, or the id of its task."""


class Ledger:
    """Remembers the newest messages."""

    def __init__(self, *, most: int) -> None:
        self._taken: OrderedDict[MessageKey, Taken] = OrderedDict()
        self._most = most

    def get(self, key: MessageKey) -> Taken | None:
        taken = self._taken.get(key)
        if isinstance(taken, Run) and taken.over and taken.outcome is None:
            return None
        return taken

    def note(self, key: MessageKey, taken: Taken) -> None:
        self._taken[key] = taken
        self._taken.move_to_end(key)
        while len(self._taken) > self._most:
            self._taken.popitem(last=False)

    def learn(self, owner: str, task: Task) -> None:
        """Enters the messages of a stored task, those that are not known yet."""
        for message in task.history:
            key = (owner, task.context_id, message.message_id)
            if message.role == Role.ROLE_USER and key not in self._taken:
                self.note(key, task.id)

    def close(self, key: MessageKey, run: Run) -> None:
        """Keeps what the ended run led to, or nothing if its message became part of nothing."""
        if self._taken.get(key) is not run:
            return
        outcome = run.outcome
        if outcome is None:
            del self._taken[key]
        else:
            self._taken[key] = outcome

    def drop(self, key: MessageKey, taken: Taken) -> None:
        if self._taken.get(key) is taken:
            del self._taken[key]
