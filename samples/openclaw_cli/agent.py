"""The OpenClaw command line as an agent; a stand-in runs where it is not installed."""

import shutil
import sys
from pathlib import Path

from google.adk.apps import App

from aion_adk import A2ABridgePlugin
from aion_adk.drivers import OpenClawAgent

STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in.py")))

root_agent = OpenClawAgent(
    "openclaw_cli",
    command=("openclaw",) if shutil.which("openclaw") else STAND_IN,
    description="Hands each message to OpenClaw.",
    timeout=300,
)
app = App(name="openclaw_cli", root_agent=root_agent, plugins=[A2ABridgePlugin()])
