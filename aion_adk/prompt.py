"""What a person reads when an agent waits for an answer."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from a2a.types import Message, Part
from google.genai import types

from aion_adk.outbound import agent_message
from aion_adk.parts import PROMPT
from aion_adk.pending import (
    CONFIRMATION,
    CREDENTIAL,
    INPUT,
    auth_config,
    call_part,
    is_confirmation,
    response_schema,
)
from aion_adk.stamp import new_id
from aion_adk.values import object_of, to_struct

# ADK's own words for a confirmation without a hint speak of FunctionResponse and ToolConfirmation.
_STOCK_HINT = "Please approve or reject the tool call"


def prompt_message(
    calls: Sequence[types.FunctionCall],
    *,
    said: Sequence[Part] = (),
    remarks: Sequence[str] = (),
) -> Message:
    """What the agent said, the questions as text, and each pending call as data."""
    text = "\n".join([*remarks, *_questions(calls, said=any(part.text for part in said))])
    asked = [Part(text=text, metadata=to_struct({PROMPT: True}))] if text else []
    parts = [*said, *asked, *map(call_part, calls)]
    return agent_message(parts, message_id=new_id())


def question(call: types.FunctionCall) -> str:
    args = call.args or {}
    if is_confirmation(call):
        return _confirmation_question(call, args)
    if call.name == INPUT:
        return str(args.get("message") or "The agent needs your input.")
    if call.name == CREDENTIAL:
        return str(args.get("message") or "The agent needs your authorization.")
    return f"{_shown_call(call.name, args)} is waiting for its result."


def how_to_answer(call: types.FunctionCall) -> str:
    if is_confirmation(call):
        return "Answer yes or no."
    if call.name == CREDENTIAL:
        return _how_to_authorize(call)
    schema = response_schema(call)
    match schema.get("type"):
        case "boolean":
            return "Answer yes or no."
        case None | "string":
            return "Answer with text or JSON."
        case _:
            return f"Answer with JSON for this schema: {json.dumps(schema, ensure_ascii=False)}"


def _questions(calls: Sequence[types.FunctionCall], *, said: bool) -> Iterable[str]:
    if len(calls) == 1:
        asked = [] if said and _is_plain_tool(calls[0]) else [question(calls[0])]
        return [*asked, how_to_answer(calls[0])]
    lines = [f"- {call.id}: {question(call)} {how_to_answer(call)}" for call in calls]
    return ["Several answers are needed, each by its id:", *lines]


def _is_plain_tool(call: types.FunctionCall) -> bool:
    return call.name not in (CONFIRMATION, INPUT, CREDENTIAL)


def _confirmation_question(call: types.FunctionCall, args: dict[str, Any]) -> str:
    if call.name == CONFIRMATION:
        tool = object_of(args, "originalFunctionCall")
        hint = str(object_of(args, "toolConfirmation").get("hint") or "")
        name = tool.get("name")
    else:
        tool = object_of(args, "payload")
        hint = str(args.get("message") or "")
        name = tool.get("tool_name")
    asked = f"Approve {_shown_call(name, object_of(tool, 'args'))}?" if name else ""
    return "\n".join(filter(None, ["" if hint.startswith(_STOCK_HINT) else hint, asked]))


def _shown_call(name: str | None, args: dict[str, Any]) -> str:
    shown = (
        f"{key}={json.dumps(value, ensure_ascii=False, default=str)}" for key, value in args.items()
    )
    return f"{name}({', '.join(shown)})"


def _how_to_authorize(call: types.FunctionCall) -> str:
    config = auth_config(call)
    oauth2 = object_of(object_of(config, "exchangedAuthCredential"), "oauth2")
    if uri := oauth2.get("authUri"):
        return f"Sign in at {uri} and answer with the address you are sent to."
    match object_of(config, "authScheme").get("type"):
        case "apiKey":
            return "Answer with the API key."
        case "http":
            return "Answer with the token."
        case _:
            return "Answer with the credential as JSON."
