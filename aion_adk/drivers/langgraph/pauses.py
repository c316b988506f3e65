"""LangGraph interrupts as ADK requests for input, and the answers back."""

from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.flows.llm_flows.functions import REQUEST_INPUT_FUNCTION_CALL_NAME
from google.genai import types
from langgraph.types import Interrupt
from pydantic_core import to_jsonable_python

from aion_adk.drivers.answer import said
from aion_adk.drivers.messages import json_text
from aion_adk.stamp import new_id
from aion_adk.values import unwrapped

BREAKPOINT = "breakpoint"
"""The id of a pause that the graph was compiled with: interrupt_before, interrupt_after."""

_PROMPT_KEYS = ("message", "question", "prompt")


def pause_event(ctx: InvocationContext, interrupts: Sequence[Interrupt]) -> Event:
    """One long-running call per interrupt."""
    calls = [_call(interrupt) for interrupt in interrupts]
    event = said(ctx, [types.Part(function_call=call) for call in calls])
    event.long_running_tool_ids = {call.id for call in calls if call.id}
    return event


def breakpoint_at(nodes: Sequence[str]) -> Interrupt:
    where = " and ".join(nodes)
    return Interrupt(value=f"The graph paused before {where}. Go on?", id=BREAKPOINT)


def answers_in(ctx: InvocationContext) -> dict[str, Any]:
    """Answers by the id of the interrupt they are for."""
    content = ctx.user_content
    responses = [part.function_response for part in (content.parts or [])] if content else []
    return {
        _interrupt_id(response.id): unwrapped(response.response or {})
        for response in responses
        if response and response.name == REQUEST_INPUT_FUNCTION_CALL_NAME and response.id
    }


def _call(interrupt: Interrupt) -> types.FunctionCall:
    args: dict[str, Any] = {"message": _prompt(interrupt.value)}
    if not isinstance(interrupt.value, str):
        args["payload"] = to_jsonable_python(interrupt.value, fallback=str)
    if isinstance(interrupt.response_schema, dict):
        args["response_schema"] = interrupt.response_schema
    # A node that interrupts twice does so under one id, and a call is answered once.
    call_id = f"{interrupt.id}:{new_id()}"
    return types.FunctionCall(id=call_id, name=REQUEST_INPUT_FUNCTION_CALL_NAME, args=args)


def _prompt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        asked = [value[key] for key in _PROMPT_KEYS if isinstance(value.get(key), str)]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # any mapping
        if asked:
            return str(asked[0])  # pyright: ignore[reportUnknownArgumentType]  # any mapping
    return json_text(value)


def _interrupt_id(call_id: str) -> str:
    return call_id.partition(":")[0]
