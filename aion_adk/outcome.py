"""How a turn ends: which messages are the reply, what is patched, which state is final."""

import logging
from dataclasses import dataclass, field

from a2a.types import Artifact, Message, Part, Task, TaskState
from google.adk.events import Event
from google.protobuf.struct_pb2 import Struct

from aion_adk.errors import OutboxError
from aion_adk.outbound import data_part, reply_parts
from aion_adk.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.stream import section_of, text_of
from aion_adk.turn import SectionKey

logger = logging.getLogger(__name__)

HONOURED_STATES = frozenset(
    {
        TaskState.TASK_STATE_INPUT_REQUIRED,
        TaskState.TASK_STATE_AUTH_REQUIRED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_REJECTED,
        TaskState.TASK_STATE_COMPLETED,
    }
)


@dataclass(slots=True)
class Outcome:
    """The end of a turn; the last message goes onto the final status."""

    state: TaskState = TaskState.TASK_STATE_COMPLETED
    messages: list[Message] = field(default_factory=list[Message])
    artifacts: list[Artifact] = field(default_factory=list[Artifact])
    metadata: Struct | None = None
    direct: bool = False


class Spoken:
    """What the agent said in its events, the reply of an agent that writes no other."""

    def __init__(self) -> None:
        self._unconfirmed: dict[SectionKey, list[str]] = {}
        self._final: list[Part] = []
        self.finals: list[list[Part]] = []

    def hear(self, event: Event) -> None:
        key = section_of(event)
        if event.partial:
            if text := text_of(event.content):
                self._unconfirmed.setdefault(key, []).append(text)
            return
        if event.content and event.content.parts:
            self._unconfirmed.pop(key, None)
        if event.author != "user" and event.is_final_response():
            parts = final_parts(event)
            if parts:
                self._final = parts
                self.finals.append(parts)

    @property
    def parts(self) -> list[Part]:
        """Streamed text that no whole event repeated, else the last final response."""
        streamed = [Part(text="".join(chunks)) for chunks in self._unconfirmed.values()]
        return streamed or self._final


def final_parts(event: Event) -> list[Part]:
    """The event's content, and a workflow's output: text as text, everything else as data."""
    parts = reply_parts(event.content)
    match event.output:
        case None:
            return parts
        case str() as text:
            said = text_of(event.content)
            return parts if said == text or not text else [*parts, Part(text=text)]
        case output:
            return [*parts, data_part(output)]


def compile_outcome(
    *, buffer: list[Message], outbox: A2AOutbox | None, fallback: Message | None
) -> Outcome:
    """The response buffer wins over the outbox, the outbox over the fallback."""
    outcome = _from_outbox(outbox) if outbox else Outcome(messages=[fallback] if fallback else [])
    if not buffer:
        return outcome
    if outbox and outcome.messages:
        logger.warning("the response buffer is the reply; the messages of the outbox are ignored")
    outcome.messages = list(buffer)
    outcome.direct = False
    return outcome


def _from_outbox(outbox: A2AOutbox) -> Outcome:
    if outbox.message is not None:
        return Outcome(messages=[outbox.message], direct=outbox.direct)
    return _from_patch(outbox.task or Task())


def _from_patch(patch: Task) -> Outcome:
    state = patch.status.state
    if state == TaskState.TASK_STATE_CANCELED:
        raise OutboxError(f"{OUTBOX_KEY}.task asks for CANCELED; only a caller can cancel a task")
    messages = list(patch.history)
    if patch.status.HasField("message"):
        final = patch.status.message
        messages = [m for m in messages if not m.message_id or m.message_id != final.message_id]
        messages.append(final)
    return Outcome(
        state=state if state in HONOURED_STATES else TaskState.TASK_STATE_COMPLETED,
        messages=messages,
        artifacts=list(patch.artifacts),
        metadata=patch.metadata if patch.HasField("metadata") else None,
    )
