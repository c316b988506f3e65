"""The message of a paused task: what the agent asks, and how to answer."""

import json
from collections.abc import Sequence
from typing import Any

from a2a.types import Message, Part
from google.genai import types

from aion_adk.execution.pauses.calls import (
    CONFIRMATION,
    CREDENTIAL,
    INPUT,
    auth_config,
    is_confirmation,
    pending_call_part,
    response_schema,
)
from aion_adk.protocol.from_genai import agent_message
from aion_adk.protocol.parts import PROMPT
from aion_adk.protocol.structs import object_of, to_struct

# How ADK's own hint begins; it goes on about FunctionResponse and ToolConfirmation.
_STOCK_HINT = "Please approve or reject the tool call"


def prompt_message(
    calls: Sequence[types.FunctionCall], *, parts: Sequence[Part] = (), remarks: Sequence[str] = ()
) -> Message:
    """The agent's own parts, the remarks and questions as text, and each pending call as data."""
    if len(calls) == 1:
        call = calls[0]
        is_ordinary_tool = call.name not in (CONFIRMATION, INPUT, CREDENTIAL)
        is_explained = is_ordinary_tool and any(part.text for part in parts)
        lines = [*([] if is_explained else [question(call)]), how_to_answer(call)]
    else:
        lines = [f"- {call.id}: {question(call)} {how_to_answer(call)}" for call in calls]
        lines.insert(0, "Several answers are needed, each by its id:")
    prompt = Part(text="\n".join([*remarks, *lines]), metadata=to_struct({PROMPT: True}))
    return agent_message([*parts, prompt, *map(pending_call_part, calls)])


def question(call: types.FunctionCall) -> str:
    args = call.args or {}
    if not is_confirmation(call):
        if call.name == INPUT:
            return str(args.get("message") or "The agent needs your input.")
        if call.name == CREDENTIAL:
            return str(args.get("message") or "The agent needs your authorization.")
        return f"{_call_as_text(call.name, args)} is waiting for its result."
    if call.name == CONFIRMATION:
        tool = object_of(args, "originalFunctionCall")
        name, hint = tool.get("name"), object_of(args, "toolConfirmation").get("hint")
    else:
        tool = object_of(args, "payload")
        name, hint = tool.get("tool_name"), args.get("message")
    lines = [str(hint)] if hint and not str(hint).startswith(_STOCK_HINT) else []
    if name:
        lines.append(f"Approve {_call_as_text(name, object_of(tool, 'args'))}?")
    return "\n".join(lines)


def how_to_answer(call: types.FunctionCall) -> str:
    schema = response_schema(call)
    if is_confirmation(call) or schema.get("type") == "boolean":
        return "Answer yes or no."
    if call.name == CREDENTIAL:
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
    if schema.get("type") in (None, "string"):
        return "Answer with text or JSON."
    return f"Answer with JSON for this schema: {json.dumps(schema, ensure_ascii=False)}"


def _call_as_text(name: str | None, args: dict[str, Any]) -> str:
    values = {key: json.dumps(args[key], ensure_ascii=False, default=str) for key in args}
    return f"{name}({', '.join(f'{key}={value}' for key, value in values.items())})"
