"""A clerk that refunds orders, and asks before it pays a large sum.

A small refund is paid at once. For a large one ADK asks for a confirmation: over A2A the task
waits with a question, and "yes" or "no" on the same task decides; under adk web and adk run it
is their own prompt.
"""

import re

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.tools import FunctionTool
from google.genai import types
from scripted_model import ScriptedLlm, last_text, tool_result

from aion_adk import A2ABridgePlugin

MOST_WITHOUT_APPROVAL = 50


def refund(order: int, amount: int) -> dict[str, str]:
    """Pays back an amount in euros for an order."""
    return {"receipt": f"R-{order}-{amount}"}


def needs_approval(order: int, amount: int) -> bool:
    return amount > MOST_WITHOUT_APPROVAL


def script(request: LlmRequest) -> str | types.FunctionCall:
    result = tool_result(request, "refund")
    if result is not None:
        return _result_text(result)
    numbers = [int(digits) for digits in re.findall(r"\d+", last_text(request))]
    if len(numbers) == 2:
        order, amount = numbers
        return types.FunctionCall(name="refund", args={"order": order, "amount": amount})
    return "I refund orders. Say, for example: refund order 7, 120 euros."


def _result_text(result: dict[str, object]) -> str:
    if "receipt" in result:
        return f"Refunded. The receipt is {result['receipt']}."
    return "Then I leave it as it is."


root_agent = LlmAgent(
    name="approval",
    description="Refunds orders; a large refund takes an approval.",
    model=ScriptedLlm(script=script),
    instruction="Refund what the user asks for with the refund tool.",
    tools=[FunctionTool(refund, require_confirmation=needs_approval)],
)
app = App(name="approval", root_agent=root_agent, plugins=[A2ABridgePlugin()])
