"""LangGraph interrupts as ADK requests for input, and the answers back."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.flows.llm_flows.functions import REQUEST_INPUT_FUNCTION_CALL_NAME
from google.genai import types
from langgraph.types import Interrupt
from pydantic_core import to_jsonable_python

from aion_adk.drivers.answer import agent_event
from aion_adk.stamp import new_id
from aion_adk.values import unwrapped

BREAKPOINT = "breakpoint"
"""The id of a pause set by `interrupt_before` or `interrupt_after` when the graph was compiled."""

_PROMPT_KEYS = ("message", "question", "prompt")


def pause_event(ctx: InvocationContext, interrupts: Sequence[Interrupt]) -> Event:
    """One long-running call per interrupt."""
    calls: list[types.FunctionCall] = []
    for interrupt in interrupts:
        args: dict[str, Any] = {"message": _prompt(interrupt.value)}
        if not isinstance(interrupt.value, str):
            args["payload"] = to_jsonable_python(interrupt.value, fallback=str)
        if isinstance(interrupt.response_schema, dict):
            args["response_schema"] = interrupt.response_schema
        # A node that interrupts twice does so under one id, and a call is answered once.
        call_id = f"{interrupt.id}:{new_id()}"
        name = REQUEST_INPUT_FUNCTION_CALL_NAME
        calls.append(types.FunctionCall(id=call_id, name=name, args=args))
    event = agent_event(ctx, [types.Part(function_call=call) for call in calls])
    event.long_running_tool_ids = {call.id for call in calls if call.id}
    return event


def answers_in(ctx: InvocationContext) -> dict[str, Any]:
    """Answers by the id of the interrupt they are for."""
    content = ctx.user_content
    responses = [part.function_response for part in (content.parts or [])] if content else []
    return {
        response.id.partition(":")[0]: unwrapped(response.response or {})
        for response in responses
        if response and response.name == REQUEST_INPUT_FUNCTION_CALL_NAME and response.id
    }


def _prompt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        given = cast(Mapping[str, Any], value)
        for key in _PROMPT_KEYS:
            if isinstance(prompt := given.get(key), str):
                return prompt
    return json.dumps(to_jsonable_python(value, fallback=str), ensure_ascii=False)
