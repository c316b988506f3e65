"""Other frameworks as ADK agents.

Importing this package imports no framework: each driver is loaded when it is first named.
"""

from typing import TYPE_CHECKING, Any

from aion_adk.drivers.adapter import AdapterAgent
from aion_adk.drivers.callable import CallableAgent
from aion_adk.drivers.driver import Driver
from aion_adk.drivers.registry import (
    BUILT_IN,
    MissingExtra,
    driver_class,
    load_agent,
    register_driver,
)

if TYPE_CHECKING:
    from aion_adk.drivers.crewai import CrewAIAgent
    from aion_adk.drivers.langchain import LangChainAgent
    from aion_adk.drivers.langgraph import LangGraphAgent
    from aion_adk.drivers.n8n import N8nAgent
    from aion_adk.drivers.openclaw import OpenClawAgent

__all__ = [
    "AdapterAgent",
    "CallableAgent",
    "CrewAIAgent",
    "Driver",
    "LangChainAgent",
    "LangGraphAgent",
    "MissingExtra",
    "N8nAgent",
    "OpenClawAgent",
    "load_agent",
    "register_driver",
]

_DRIVERS = {class_name: name for name, class_name in BUILT_IN.items()}


def __getattr__(name: str) -> Any:
    if name not in _DRIVERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return driver_class(_DRIVERS[name])
