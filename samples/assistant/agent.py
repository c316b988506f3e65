"""An assistant with a tool. It uses Gemini when a key is set, and a local script otherwise."""

import os
from datetime import UTC, datetime

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from scripted_model import ScriptedLlm, last_text, tool_result

from aion_adk import A2ABridgePlugin

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")


def current_time() -> dict[str, str]:
    """Says what time it is in UTC."""
    return {"time": datetime.now(UTC).strftime("%H:%M")}


def script(request: LlmRequest) -> str | types.FunctionCall:
    if result := tool_result(request, "current_time"):
        return f"It is {result['time']} in UTC."
    if "time" in last_text(request).lower():
        return types.FunctionCall(name="current_time", args={})
    return (
        "Hello! I follow a small script, since no model key is set. Ask me what time it is,"
        " and I will call a tool to find out."
    )


def model() -> str | BaseLlm:
    if any(os.environ.get(key) for key in KEYS):
        return os.environ.get("ASSISTANT_MODEL", "gemini-flash-latest")
    return ScriptedLlm(script=script)


root_agent = LlmAgent(
    name="assistant",
    description="Answers questions, and knows what time it is.",
    model=model(),
    instruction="Be brief and friendly. Use current_time when asked for the time.",
    tools=[current_time],
)
app = App(name="assistant", root_agent=root_agent, plugins=[A2ABridgePlugin()])
