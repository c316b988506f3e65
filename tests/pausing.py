"""Agents whose tools wait for an answer, and what their tasks show of it."""

from typing import Any

from a2a.types import Part, Task, TaskState
from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool
from google.genai import types

from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import to_dict, to_plain
from tests.models import ScriptedModel, call
from tests.serving import send

INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
COMPLETED = TaskState.TASK_STATE_COMPLETED


def ask_boss(topic: str) -> None:
    """Asks somebody else; the answer comes later."""


def asker_of(*steps: list[types.Part], tools: list[Any] | None = None) -> LlmAgent:
    tools = tools or [LongRunningFunctionTool(ask_boss)]
    return LlmAgent(name="asker", model=ScriptedModel(steps=list(steps)), tools=tools)


def model_of(agent: LlmAgent) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


def calls_to_boss(*topics: str) -> list[types.Part]:
    return [call("ask_boss", call_id=f"ask-{topic}", topic=topic) for topic in topics]


def pending(task: Task) -> list[dict[str, Any]]:
    """The calls that the status message carries as data."""
    return [
        to_plain(part.data)
        for part in task.status.message.parts
        if to_dict(part.metadata) == {"adk_type": "function_call", "adk_is_long_running": True}
    ]


def response(call_id: str, value: Any, *, name: str = "ask_boss") -> Part:
    answer = {"id": call_id, "name": name, "response": value}
    return data_part(answer, adk_type="function_response")


def last_responses(agent: LlmAgent) -> list[Any]:
    """The function responses that the model was given last."""
    contents = model_of(agent).requests[-1].contents
    return [
        part.function_response.response
        for content in contents
        for part in content.parts or []
        if part.function_response
    ]


async def follow_up(url: str, task: Task, content: Any) -> Task:
    return await send(url, content, task_id=task.id)
