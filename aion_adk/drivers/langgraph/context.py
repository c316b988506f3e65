"""What a node can read of the request: `runtime.context`, and `a2a_inbox` in the state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from a2a.types import Message, Part, Task
from google.adk.agents.invocation_context import InvocationContext
from pydantic import BaseModel, ConfigDict

from aion_adk.context.inbox import A2AInbox
from aion_adk.drivers.inputs import conversation_id, inbox_or_none, text_of_request
from aion_adk.protocol.structs import ProtoJson, to_dict

EVENT_KEY = "event"


class GraphInbox(BaseModel):
    """`a2a_inbox` in a graph's state: the task, the whole message and the request's metadata.

    It dumps to JSON, as a checkpointer needs and protobuf messages do not.
    """

    model_config = ConfigDict(frozen=True)

    task: Annotated[Task, ProtoJson()]
    message: Annotated[Message, ProtoJson()]
    metadata: dict[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    id: str
    text: str
    parts: tuple[Part, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The conversation: the caller's context id, the user, and the graph's own thread id."""

    id: str
    user_id: str
    thread_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundEvent:
    """Why the graph runs: `kind` is "message" unless the metadata of the message or the request has
    an `event`: the name of another kind (command, reaction, card action), or its details."""

    kind: str = "message"
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentIdentity:
    name: str
    display_name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AionContext:
    """The `context_schema` of a graph whose nodes read the request."""

    message: InboundMessage | None
    thread: Thread
    event: InboundEvent
    inbox: A2AInbox | None
    self: AgentIdentity


def aion_context(ctx: InvocationContext, *, identity: AgentIdentity) -> AionContext:
    inbox = inbox_or_none(ctx)
    message = inbox.message if inbox else None
    metadata = to_dict(message.metadata) if message else {}
    match {**(inbox.metadata if inbox else {}), **metadata}.get(EVENT_KEY):
        case str(kind):
            event = InboundEvent(kind=kind)
        case {"kind": str(kind), **details}:
            event = InboundEvent(kind=kind, details=details)
        case _:
            event = InboundEvent()
    return AionContext(
        message=InboundMessage(
            id=message.message_id,
            text=text_of_request(ctx),
            parts=tuple(message.parts),
            metadata=metadata,
        )
        if message
        else None,
        thread=Thread(
            id=(message.context_id if message else "") or ctx.session.id,
            user_id=ctx.user_id,
            thread_id=conversation_id(ctx),
        ),
        event=event,
        inbox=inbox,
        self=identity,
    )
