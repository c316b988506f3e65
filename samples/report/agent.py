"""A tool that reports its progress and sends files while it runs."""

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.tools import ToolContext
from google.genai import types
from scripted_model import ScriptedLlm, last_text, tool_result

from aion_adk import A2ABridgePlugin, emit_data, emit_file, emit_message, emit_task_metadata


def make_report(topic: str, tool_context: ToolContext) -> dict[str, str]:
    """Writes a report about a topic and sends it to the user."""
    emit_message(tool_context, f"Looking into {topic}…")
    emit_data(tool_context, {"topic": topic, "sources": 3}, name="sources.json")
    text = f"# {topic}\n\nThree sources agree: it is worth knowing about.\n"
    emit_file(tool_context, data=text.encode(), mime_type="text/markdown", name="report.md")
    emit_task_metadata(tool_context, {"topic": topic})
    return {"status": "sent"}


def script(request: LlmRequest) -> str | types.FunctionCall:
    if tool_result(request, "make_report"):
        return "Your report is ready: see report.md."
    return types.FunctionCall(name="make_report", args={"topic": last_text(request)})


root_agent = LlmAgent(
    name="report",
    description="Writes a report about any topic and sends it as a file.",
    model=ScriptedLlm(script=script),
    instruction="Write a report about the topic that the user names, with make_report.",
    tools=[make_report],
)
app = App(name="report", root_agent=root_agent, plugins=[A2ABridgePlugin()])
