"""The samples, the programs that run them, and what they answer."""

import os
import subprocess
import sys
from importlib.util import find_spec

from fastapi import FastAPI
from google.adk.cli.fast_api import get_fast_api_app

from tests.paths import ROOT

SAMPLES = ROOT / "samples"
NAMES = sorted(path.parent.name for path in SAMPLES.glob("*/agent.py"))
KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")

# What each of them answers to "hello".
ANSWERS = {
    "adapter_object": "1. hello",
    "approval": "I refund orders.",
    "assistant": "I follow a small script",
    "callable_function": "hello: 1.",
    "conformance": "What else should I know?",
    "copilot": "I keep your to-do list.",
    "crewai_crew": "A short and true text." if find_spec("crewai") else "needs CrewAI",
    "echo": "You said: hello",
    "files": "I got 1 part(s): text, 5 characters.",
    "langchain_chain": "A good question.",
    "langgraph_graph": "I can book a table for you.",
    "n8n_workflow": "The workflow got: hello",
    "openclaw_cli": "answer: hello",
    "outbox": "Sunny in Paris.",
    "report": "Your report is ready",
    "streaming": "A message came in over the wire.",
    "team": "begin small",
}


def run(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=50,
        env=without_keys(),
    )


def without_keys() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in KEYS}


def adk_site() -> FastAPI:
    return get_fast_api_app(
        agents_dir=str(SAMPLES),
        web=False,
        session_service_uri="memory://",
        artifact_service_uri="memory://",
        use_local_storage=False,
    )
