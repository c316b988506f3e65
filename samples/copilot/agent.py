"""An agent for the side of a page: it keeps a to-do list and can change the page's colour.

Serve it with `aion-adk serve samples/copilot --agui` and point CopilotKit's HttpAgent at /agui.
The list is shared state, so the page sees it change. `set_color` is a tool of the page, not of
the agent: where a client declares it the agent calls it, elsewhere it does without.
"""

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from scripted_model import ScriptedLlm, last_text, tool_result

from aion_adk import A2ABridgePlugin

PAGE_TOOL = "set_color"


def add_todo(title: str, tool_context: ToolContext) -> dict[str, int]:
    """Adds an entry to the user's to-do list."""
    todos = [*tool_context.state.get("todos", []), title]
    tool_context.state["todos"] = todos
    return {"count": len(todos)}


def script(request: LlmRequest) -> str | types.FunctionCall:
    added = tool_result(request, "add_todo")
    if added is not None:
        return f"Done. There are {added['count']} entries now."
    if tool_result(request, PAGE_TOOL) is not None:
        return "How do you like it?"
    asked = last_text(request).strip().rstrip(".!")
    if asked.lower().startswith("add "):
        return types.FunctionCall(name="add_todo", args={"title": asked[len("add ") :]})
    if asked.lower().startswith("make it ") and PAGE_TOOL in request.tools_dict:
        return types.FunctionCall(name=PAGE_TOOL, args={"color": asked.split()[-1]})
    return "I keep your to-do list. Say, for example: add buy milk."


root_agent = LlmAgent(
    name="copilot",
    description="Keeps a to-do list and changes the page.",
    model=ScriptedLlm(script=script),
    instruction="Help the user with the to-do list; use the page's tools where there are any.",
    tools=[add_todo],
)
app = App(name="copilot", root_agent=root_agent, plugins=[A2ABridgePlugin()])
