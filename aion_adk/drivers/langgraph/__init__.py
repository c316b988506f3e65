"""LangGraph: the agent, its runtime context, and what nodes may emit."""

from aion_adk.drivers.langgraph.agent import LangGraphAgent
from aion_adk.drivers.langgraph.context import (
    AionContext,
    GraphInbox,
    emit_data,
    emit_file,
    emit_message,
    emit_task_metadata,
)

__all__ = [
    "AionContext",
    "GraphInbox",
    "LangGraphAgent",
    "emit_data",
    "emit_file",
    "emit_message",
    "emit_task_metadata",
]
