"""Tool calls and results in a message, in either of their two forms.

The mapping document lists them in one data part (`tool_calls`, `tool_results`); ADK sends one
data part for each and names its kind in the part's metadata (`adk_type`).
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
from aion_adk.protocol.structs import list_of, object_of, to_dict, to_plain, unwrapped


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: dict[str, Any] | str
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
    """Text unchanged; anything else as JSON, with sorted keys."""
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
        pending = metadata.get(ADK_LONG_RUNNING) is True
        return [
            ToolCall(*_id_and_name(call), call.get("args") or {}, long_running=pending)
            for call in _objects_in([data])
        ]
    calls: list[ToolCall] = []
    for call in _objects_in(list_of(data, TOOL_CALLS)):
        # A Struct holds doubles: a producer with larger integers sends the arguments as text too.
        arguments: Any = call.get("arguments_json") or call.get("arguments") or {}
        if not isinstance(arguments, dict | str):
            arguments = as_text(arguments)
        calls.append(ToolCall(*_id_and_name(call), cast("dict[str, Any] | str", arguments)))
    return calls


def tool_results_in(data: Any, metadata: Mapping[str, Any]) -> list[ToolResult]:
    """The results in one data part, given as plain Python."""
    results: list[ToolResult] = []
    if metadata.get(ADK_TYPE) == FUNCTION_RESPONSE:
        for result in _objects_in([data]):
            response: Any = result.get("response")
            failed = "error" in object_of(response)
            # ADK wraps every return value of a tool that is not a dict.
            results.append(ToolResult(*_id_and_name(result), unwrapped(response), failed=failed))
        return results
    for result in _objects_in(list_of(data, TOOL_RESULTS)):
        failed = bool(result.get("is_error"))
        results.append(ToolResult(*_id_and_name(result), result.get("output"), failed=failed))
    return results


def _data_of(part: Part) -> tuple[Any, dict[str, Any]]:
    if not part.HasField("data"):
        return None, {}
    return to_plain(part.data), to_dict(part.metadata)


def _objects_in(items: list[Any]) -> list[dict[str, Any]]:
    return [object_of(item) for item in items if isinstance(item, dict)]


def _id_and_name(item: Mapping[str, Any]) -> tuple[str, str]:
    """Some models give their calls no ids: then the name is the id."""
    name = str(item.get("name") or "")
    return str(item.get("call_id") or item.get("id") or name), name
