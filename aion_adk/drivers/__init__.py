"""Other frameworks as ADK agents.

Importing this package imports no framework: each driver is loaded when it is first named.
"""

from aion_adk.drivers.adapter import AdapterAgent
from aion_adk.drivers.callable import CallableAgent
from aion_adk.drivers.driver import Driver
from aion_adk.drivers.registry import MissingExtra, load_agent, register_driver

__all__ = [
    "AdapterAgent",
    "CallableAgent",
    "Driver",
    "MissingExtra",
    "load_agent",
    "register_driver",
]
