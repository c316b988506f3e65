"""A tool for agents that have questions."""

from google.adk.tools import request_input

ask_caller = request_input
"""Gives an `LlmAgent` a way to ask its caller: the task waits for the answer.

It is ADK's own `request_input`, so the adk commands and ADK clients know it too.
"""
