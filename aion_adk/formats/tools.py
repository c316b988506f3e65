"""Tool calls and results in a message, in either of their two spellings.

The mapping document lists them in one data part (`tool_calls`, `tool_results`); ADK sends one
data part for each and says what it is in the part's metadata (`adk_type`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from a2a.types import Message, Part

from aion_adk.protocol.parts import (
    ADK_LONG_RUNNING,
    ADK_TYPE,
    FUNCTION_CALL,
    FUNCTION_RESPONSE,
    TOOL_CALLS,
    TOOL_RESULTS,
)
from aion_adk.protocol.structs import list_of, to_dict, to_plain, unwrapped

Arguments = dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Arguments
    long_running: bool = False

    @property
    def arguments_json(self) -> str:
        return as_text(self.arguments)


@dataclass(frozen=True, slots=True)
class ToolResult:
    id: str
    name: str
    output: Any
    failed: bool = False

    @property
    def text(self) -> str:
        return as_text(self.output)


def as_text(value: Any) -> str:
    """Text as it is, everything else as JSON, the same for the same value."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def tool_calls_of(message: Message) -> list[ToolCall]:
    return [call for part in message.parts for call in tool_calls_in(*_data_of(part))]


def tool_results_of(message: Message) -> list[ToolResult]:
    return [result for part in message.parts for result in tool_results_in(*_data_of(part))]


def tool_calls_in(data: Any, metadata: Mapping[str, Any]) -> list[ToolCall]:
    """The calls in one data part, given as plain Python."""
    if metadata.get(ADK_TYPE) == FUNCTION_CALL:
        if not isinstance(data, dict):
            return []
        call = cast("dict[str, Any]", data)
        call_id, name = _id_and_name(call)
        waits = metadata.get(ADK_LONG_RUNNING) is True
        return [ToolCall(call_id, name, call.get("args") or {}, long_running=waits)]
    calls: list[ToolCall] = []
    for call in _objects_under(TOOL_CALLS, data):
        # A Struct holds doubles: a producer with larger integers sends the arguments as text too.
        arguments: Any = call.get("arguments_json") or call.get("arguments") or {}
        if not isinstance(arguments, dict | str):
            arguments = as_text(arguments)
        calls.append(ToolCall(*_id_and_name(call), cast("Arguments", arguments)))
    return calls


def tool_results_in(data: Any, metadata: Mapping[str, Any]) -> list[ToolResult]:
    """The results in one data part, given as plain Python."""
    if metadata.get(ADK_TYPE) != FUNCTION_RESPONSE:
        return [
            ToolResult(
                *_id_and_name(result), result.get("output"), failed=bool(result.get("is_error"))
            )
            for result in _objects_under(TOOL_RESULTS, data)
        ]
    if not isinstance(data, dict):
        return []
    result = cast("dict[str, Any]", data)
    output: Any = result.get("response")
    failed = False
    if isinstance(output, dict):
        response = cast("dict[str, Any]", output)
        failed = "error" in response
        # ADK wraps every return value of a tool that is not a dict.
        output = unwrapped(response)
    return [ToolResult(*_id_and_name(result), output, failed=failed)]


def _data_of(part: Part) -> tuple[Any, dict[str, Any]]:
    if not part.HasField("data"):
        return None, {}
    return to_plain(part.data), to_dict(part.metadata)


def _objects_under(key: str, data: Any) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", item) for item in list_of(data, key) if isinstance(item, dict)]


def _id_and_name(item: Mapping[str, Any]) -> tuple[str, str]:
    """Some models give their calls no ids: then the name has to do."""
    name = str(item.get("name") or "")
    return str(item.get("call_id") or item.get("id") or name), name
