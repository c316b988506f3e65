"""What a node of a graph can send while it runs, through LangGraph's `StreamWriter`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from google.adk.agents.invocation_context import InvocationContext
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.types import StreamWriter

from aion_adk.context import emit
from aion_adk.drivers.langchain_messages import parts_of
from aion_adk.protocol.from_genai import agent_message, to_a2a_part
from aion_adk.protocol.stamp import new_id


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
                sent = agent_message(parts, message_id=message.id or new_id())
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
