"""Serve any Google ADK agent over A2A."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aion_adk.app import A2AApp
    from aion_adk.card import build_agent_card
    from aion_adk.emit import (
        ask_caller,
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
    from aion_adk.server import serve, to_a2a
    from aion_adk.store import DurableTaskStore, MemoryTaskStore

__all__ = [
    "A2AApp",
    "A2ABridgePlugin",
    "A2AInbox",
    "A2AOutbox",
    "ADKAgentExecutor",
    "BridgeError",
    "DurableTaskStore",
    "MemoryTaskStore",
    "ServerOptions",
    "TaskFailed",
    "TaskRejected",
    "ask_caller",
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

_HOMES = {
    "A2AApp": "app",
    "A2ABridgePlugin": "plugin",
    "A2AInbox": "inbox",
    "A2AOutbox": "outbox",
    "ADKAgentExecutor": "executor",
    "BridgeError": "errors",
    "DurableTaskStore": "store",
    "MemoryTaskStore": "store",
    "ServerOptions": "options",
    "TaskFailed": "errors",
    "TaskRejected": "errors",
    "ask_caller": "emit",
    "build_agent_card": "card",
    "emit_artifact": "emit",
    "emit_data": "emit",
    "emit_file": "emit",
    "emit_message": "emit",
    "emit_task_metadata": "emit",
    "inbox_of": "inbox",
    "reply": "emit",
    "reply_stream": "emit",
    "serve": "server",
    "to_a2a": "server",
}


if not TYPE_CHECKING:  # a checker must go on to find misspelt names

    def __getattr__(name: str) -> object:
        # `aion-adk --help` must not wait the seconds that google-adk and a2a-sdk take to load.
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
