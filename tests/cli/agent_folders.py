"""Folders of agents as a user of ADK lays them out."""

from pathlib import Path

AGENT = """
from google.adk.agents import BaseAgent
root_agent = BaseAgent(name="{name}")
"""
APP = """
from google.adk.apps import App
app = App(name="{name}", root_agent=root_agent)
"""


def write(folder: Path, name: str, source: str, *, file: str = "agent.py") -> Path:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "__init__.py").touch()
    (folder / name / file).write_text(source.format(name=name))
    return folder / name
