"""How a turn ends: which messages are the reply, what is patched, which state is final."""

import copy
import logging
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from a2a.types import Artifact, Message, Part, Task, TaskState
from google.adk.events import Event
from google.protobuf.struct_pb2 import Struct

from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.context.turn import SectionEnd, SectionKey, TextChunk, TurnOutput
from aion_adk.errors import OutboxError
from aion_adk.execution.pauses.calls import PendingCalls, paused_state
from aion_adk.execution.pauses.questions import prompt_message
from aion_adk.protocol.from_genai import MESSAGE_ID, data_part, genai_parts, reply_parts, texts_in
from aion_adk.protocol.task_state import SETTLED_STATES

logger = logging.getLogger(__name__)

HONOURED_STATES = SETTLED_STATES - {TaskState.TASK_STATE_CANCELED}

_GIVEN_UP_STATES = frozenset({TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_REJECTED})


@dataclass(slots=True)
class Outcome:
    """The end of a turn; the last message goes onto the final status."""

    state: TaskState = TaskState.TASK_STATE_COMPLETED
    messages: list[Message] = field(default_factory=list[Message])
    artifacts: list[Artifact] = field(default_factory=list[Artifact])
    metadata: Struct | None = None
    direct: bool = False


class AgentContent:
    """The ordinary content of an agent's events: the reply where it writes no other."""

    def __init__(self) -> None:
        self._unconfirmed: dict[SectionKey, list[str]] = {}
        self._final: Event | None = None

    def on_event(self, event: Event) -> list[TurnOutput]:
        """Records the event; returns a chunk for a partial event, the end of its section for
        the whole one that repeats it."""
        section = section_of(event)
        if event.partial:
            text = "".join(texts_in(genai_parts(event.content)))
            if not text:
                return []
            self._unconfirmed.setdefault(section, []).append(text)
            return [TextChunk(section, text)]
        parts = reply_parts(event.content)
        if parts:
            self._unconfirmed.pop(section, None)
        if is_final(event) and (parts or event.output not in (None, "")):
            self._final = event
        return [SectionEnd(section)] if event.content and event.content.parts else []

    @property
    def parts(self) -> list[Part]:
        """Streamed text that no whole event repeated, else the last final response."""
        streamed = [Part(text="".join(chunks)) for chunks in self._unconfirmed.values()]
        return streamed or (final_parts(self._final) if self._final else [])

    @property
    def message_id(self) -> str | None:
        """The id that the agent gave to what `parts` are, if it gave one."""
        if self._unconfirmed or self._final is None:
            return None
        return (self._final.custom_metadata or {}).get(MESSAGE_ID)


def section_of(event: Event) -> SectionKey:
    # The nodes of a workflow speak under its name, in its branch.
    return (event.author, f"{event.branch or ''}/{event.node_info.path}")


def is_final(event: Event) -> bool:
    """Whether the event is a final response of an agent, which may still be empty."""
    return not event.partial and event.author != "user" and event.is_final_response()


def final_parts(event: Event) -> list[Part]:
    """A final response's content and a workflow's output: text as text, everything else as data."""
    parts = reply_parts(event.content)
    match event.output:
        case None:
            return parts
        case str() as text:
            repeats = text in ("", "".join(texts_in(genai_parts(event.content))))
            return parts if repeats else [*parts, Part(text=text)]
        case output:
            return [*parts, data_part(output)]


def compile_outcome(
    *,
    buffer: list[Message],
    outbox: A2AOutbox | None,
    fallback: Message | None,
    known_ids: Set[str],
    pending: PendingCalls | None = None,
    as_artifact: bool = False,
) -> Outcome:
    """The response buffer wins over the outbox, the outbox over the fallback.

    `known_ids` are those of the messages that the task has already. `pending` calls end the turn
    with a question, unless the agent gave the task up.
    """
    outcome = Outcome(messages=[fallback] if fallback else [])
    if outbox:
        outcome = _from_outbox(outbox, known_ids)
    if buffer:
        if outbox and outcome.messages:
            logger.warning("the response buffer is the reply; the outbox's messages are ignored")
        outcome.messages = list(buffer)
        outcome.direct = False
    outcome.messages = [message for message in outcome.messages if message.parts]
    if pending and pending.calls and outcome.state not in _GIVEN_UP_STATES:
        outcome.state = paused_state(pending.calls.values())
        parts = [] if buffer or outbox else pending.parts
        outcome.messages.append(prompt_message(list(pending.calls.values()), parts=parts))
        outcome.direct = False
    if as_artifact and outcome.messages and outcome.state == TaskState.TASK_STATE_COMPLETED:
        outcome.artifacts.append(_reply_artifact(outcome.messages))
        outcome.messages = []
    return outcome


def _from_outbox(outbox: A2AOutbox, known_ids: Set[str]) -> Outcome:
    if outbox.message is not None:
        return Outcome(messages=[_renamed(outbox.message, known_ids)], direct=outbox.direct)
    return _from_patch(outbox.task or Task(), known_ids)


def _from_patch(patch: Task, known_ids: Set[str]) -> Outcome:
    state = patch.status.state
    if state == TaskState.TASK_STATE_CANCELED:
        raise OutboxError(f"{OUTBOX_KEY}.task asks for CANCELED; only a caller can cancel a task")
    messages = _unseen(patch.history, known_ids)
    if patch.status.HasField("message"):
        final = _renamed(patch.status.message, known_ids)
        messages = [*_unseen(messages, {final.message_id}), final]
    return Outcome(
        state=state if state in HONOURED_STATES else TaskState.TASK_STATE_COMPLETED,
        messages=messages,
        artifacts=list(patch.artifacts),
        metadata=patch.metadata if patch.HasField("metadata") else None,
    )


def _unseen(messages: Iterable[Message], known_ids: Set[str]) -> list[Message]:
    """The messages whose id is new; one without an id gets a new one when it leaves."""
    unseen: list[Message] = []
    seen = set(known_ids) - {""}
    for message in messages:
        if message.message_id not in seen:
            unseen.append(message)
            seen |= {message.message_id} - {""}
    return unseen


def _renamed(message: Message, known_ids: Set[str]) -> Message:
    """The message, without its id if another has it, such as an inbound message sent back."""
    if message.message_id not in known_ids:
        return message
    renamed = copy.deepcopy(message)
    renamed.message_id = ""
    return renamed


def _reply_artifact(messages: list[Message]) -> Artifact:
    parts = [part for message in messages for part in message.parts]
    return Artifact(artifact_id=messages[-1].message_id, name="reply", parts=parts)
