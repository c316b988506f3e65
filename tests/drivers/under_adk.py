"""An agent of a test as a module that ADK's commands load."""

shown: list[object] = []
"""The agent, as its only item."""

AGENT_MODULE = """\
from tests.drivers.under_adk import shown

root_agent = shown[0]
"""
