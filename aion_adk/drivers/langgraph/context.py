"""What a node of a graph can read of the request, and what it can send while it runs.

It reads `runtime.context`, and `a2a_inbox` in the state; it sends through LangGraph's
`StreamWriter`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from a2a.types import Message, Part, Task
from google.adk.agents.invocation_context import InvocationContext
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.types import StreamWriter
from pydantic import BaseModel, ConfigDict

from aion_adk.context import emit
from aion_adk.context.inbox import A2AInbox
from aion_adk.drivers.driver import Driver
from aion_adk.drivers.inputs import conversation_id, inbox_or_none, text_of_request
from aion_adk.drivers.langchain_messages import parts_of
from aion_adk.protocol.from_genai import agent_message, to_a2a_part
from aion_adk.protocol.structs import ProtoJson, to_dict


class GraphInbox(BaseModel):
    """`a2a_inbox` in a graph's state: the task, the whole message and the request's metadata.

    It dumps to JSON, as a checkpointer needs and protobuf messages do not.
    """

    # A checkpoint names this class by its module: after a move it could not be read back.
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


def aion_context(ctx: InvocationContext, *, agent: Driver) -> AionContext:
    inbox = inbox_or_none(ctx)
    message = inbox.message if inbox else None
    metadata = to_dict(message.metadata) if message else {}
    match {**(inbox.metadata if inbox else {}), **metadata}.get("event"):
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
        self=AgentIdentity(
            name=agent.name,
            display_name=agent.display_name or agent.name,
            description=agent.description,
        ),
    )


@dataclass(frozen=True, slots=True)
class Emission:
    """One call of an `emit_*` function on its way through the graph's custom stream."""

    kind: Literal["file", "data", "message", "task_metadata"]
    arguments: Mapping[str, Any]

    def send(self, ctx: InvocationContext) -> None:
        match self.kind:
            case "file":
                emit.emit_file(ctx, **self.arguments)
            case "data":
                emit.emit_data(ctx, **self.arguments)
            case "task_metadata":
                emit.emit_task_metadata(ctx, **self.arguments)
            case "message":
                message: AIMessage = self.arguments["message"]
                parts = [part for item in parts_of(message) if (part := to_a2a_part(item))]
                sent = agent_message(parts, message_id=message.id or "")
                emit.emit_message(ctx, sent, partial=isinstance(message, AIMessageChunk))


def emit_file(
    writer: StreamWriter,
    *,
    url: str | None = None,
    data: bytes | str | None = None,
    mime_type: str,
    name: str | None = None,
    append: bool = False,
    last_chunk: bool = True,
) -> None:
    """Sends a file as an artifact: a URL, bytes, or bytes in base64 text."""
    if (url is None) == (data is None):
        raise ValueError("emit_file takes exactly one of url and data")
    arguments = {
        "url": url,
        "data": data,
        "mime_type": mime_type,
        "name": name,
        "append": append,
        "last_chunk": last_chunk,
    }
    writer(Emission("file", arguments))


def emit_data(
    writer: StreamWriter,
    data: Any,
    *,
    name: str | None = None,
    append: bool = False,
    last_chunk: bool = True,
) -> None:
    """Sends JSON-serialisable data as an artifact."""
    arguments = {"data": data, "name": name, "append": append, "last_chunk": last_chunk}
    writer(Emission("data", arguments))


def emit_message(writer: StreamWriter, message: AIMessage | AIMessageChunk | str) -> None:
    """Sends a message while the graph goes on: kept in the task's history, or only streamed if it
    is an AIMessageChunk."""
    if isinstance(message, str):
        message = AIMessage(content=message)
    writer(Emission("message", {"message": message}))


def emit_task_metadata(writer: StreamWriter, metadata: Mapping[str, Any]) -> None:
    """Merges `metadata` into the task's; keys that only the server may set are dropped."""
    writer(Emission("task_metadata", {"metadata": dict(metadata)}))
