"""Serve any Google ADK agent over A2A."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aion_adk.card import build_agent_card
    from aion_adk.context.emit import (
        ask_caller,
        emit_artifact,
        emit_data,
        emit_file,
        emit_message,
        emit_task_metadata,
        reply,
        reply_stream,
    )
    from aion_adk.context.inbox import A2AInbox, inbox_of
    from aion_adk.context.outbox import A2AOutbox
    from aion_adk.context.plugin import A2ABridgePlugin
    from aion_adk.errors import BridgeError, TaskFailed, TaskRejected
    from aion_adk.execution.executor import ADKAgentExecutor
    from aion_adk.server.app import A2AApp
    from aion_adk.server.build import serve, to_a2a
    from aion_adk.server.options import ServerOptions
    from aion_adk.storage.memory import DurableTaskStore, MemoryTaskStore

    __version__: str

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

_MODULES = {
    "server.app": ["A2AApp"],
    "card": ["build_agent_card"],
    "context.emit": [
        "ask_caller",
        "emit_artifact",
        "emit_data",
        "emit_file",
        "emit_message",
        "emit_task_metadata",
        "reply",
        "reply_stream",
    ],
    "errors": ["BridgeError", "TaskFailed", "TaskRejected"],
    "execution.executor": ["ADKAgentExecutor"],
    "context.inbox": ["A2AInbox", "inbox_of"],
    "server.options": ["ServerOptions"],
    "context.outbox": ["A2AOutbox"],
    "context.plugin": ["A2ABridgePlugin"],
    "server.build": ["serve", "to_a2a"],
    "storage.memory": ["DurableTaskStore", "MemoryTaskStore"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # a type checker must still find misspelt names

    def __getattr__(name: str) -> object:
        # `aion-adk --help` must not wait the seconds that google-adk and a2a-sdk take to load.
        if name == "__version__":
            from importlib.metadata import version

            return version("aion-adk")
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
