"""Tool calls and results in a message, in either of their two spellings.

The mapping document lists them in one data part (`tool_calls`, `tool_results`); ADK sends one
data part for each and says what it is in the part's metadata (`adk_type`).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from a2a.types import Message, Part

from aion_adk.parts import (
    ADK_LONG_RUNNING,
    ADK_TYPE,
    FUNCTION_CALL,
    FUNCTION_RESPONSE,
    TOOL_CALLS,
    TOOL_RESULTS,
)
from aion_adk.values import to_dict, to_plain, unwrapped

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
    return [call for part in message.parts for call in calls_in(*_data_of(part))]


def tool_results_of(message: Message) -> list[ToolResult]:
    return [result for part in message.parts for result in results_in(*_data_of(part))]


def calls_in(data: Any, metadata: Mapping[str, Any]) -> list[ToolCall]:
    """The calls in one data part, given as plain Python."""
    if metadata.get(ADK_TYPE) == FUNCTION_CALL:
        waits = metadata.get(ADK_LONG_RUNNING) is True
        return [_adk_call(call, waits=waits) for call in _dicts([data])]
    return [_listed_call(call) for call in _dicts(_listed(data, TOOL_CALLS))]


def results_in(data: Any, metadata: Mapping[str, Any]) -> list[ToolResult]:
    if metadata.get(ADK_TYPE) == FUNCTION_RESPONSE:
        return [_adk_result(result) for result in _dicts([data])]
    return [_listed_result(result) for result in _dicts(_listed(data, TOOL_RESULTS))]


def _data_of(part: Part) -> tuple[Any, dict[str, Any]]:
    if not part.HasField("data"):
        return None, {}
    return to_plain(part.data), to_dict(part.metadata)


def _listed(data: Any, key: str) -> list[Any]:
    found = cast("dict[str, Any]", data).get(key) if isinstance(data, dict) else None
    return cast("list[Any]", found) if isinstance(found, list) else []


def _dicts(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", value) for value in values if isinstance(value, dict)]


def _adk_call(call: dict[str, Any], *, waits: bool) -> ToolCall:
    name = str(call.get("name") or "")
    return ToolCall(str(call.get("id") or name), name, call.get("args") or {}, long_running=waits)


def _listed_call(call: dict[str, Any]) -> ToolCall:
    name = str(call.get("name") or "")
    # A Struct holds doubles: a producer with larger integers sends the arguments as text too.
    arguments: Any = call.get("arguments_json") or call.get("arguments") or {}
    if not isinstance(arguments, dict | str):
        arguments = as_text(arguments)
    call_id = str(call.get("call_id") or call.get("id") or name)
    return ToolCall(call_id, name, cast("Arguments", arguments))


def _adk_result(result: dict[str, Any]) -> ToolResult:
    name = str(result.get("name") or "")
    output: Any = result.get("response")
    failed = False
    if isinstance(output, dict):
        response = cast("dict[str, Any]", output)
        failed = "error" in response
        output = unwrapped(response)
    return ToolResult(str(result.get("id") or name), name, output, failed=failed)


def _listed_result(result: dict[str, Any]) -> ToolResult:
    name = str(result.get("name") or "")
    call_id = str(result.get("call_id") or result.get("id") or name)
    return ToolResult(call_id, name, result.get("output"), failed=bool(result.get("is_error")))
