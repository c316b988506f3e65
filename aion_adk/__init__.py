"""Serve any Google ADK agent over A2A."""

from aion_adk.card import build_agent_card
from aion_adk.emit import (
    emit_artifact,
    emit_data,
    emit_file,
    emit_message,
    emit_task_metadata,
    reply,
    reply_stream,
)
from aion_adk.errors import BridgeError, TaskFailed, TaskRejected
from aion_adk.executor import ADKAgentExecutor
from aion_adk.inbox import A2AInbox, inbox_of
from aion_adk.options import ServerOptions
from aion_adk.outbox import A2AOutbox
from aion_adk.plugin import A2ABridgePlugin
from aion_adk.server import A2AApp, serve, to_a2a

__all__ = [
    "A2AApp",
    "A2ABridgePlugin",
    "A2AInbox",
    "A2AOutbox",
    "ADKAgentExecutor",
    "BridgeError",
    "ServerOptions",
    "TaskFailed",
    "TaskRejected",
    "build_agent_card",
    "emit_artifact",
    "emit_data",
    "emit_file",
    "emit_message",
    "emit_task_metadata",
    "inbox_of",
    "reply",
    "reply_stream",
    "serve",
    "to_a2a",
]
