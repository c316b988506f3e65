"""What a client of another protocol asks for, in A2A's terms."""

from dataclasses import dataclass, field
from typing import Any

from a2a.types import Message, Part

from aion_adk.errors import BridgeError
from aion_adk.parts import ADK_TYPE, FUNCTION_CALL, FUNCTION_RESPONSE
from aion_adk.values import decoded_json, object_of, to_struct, to_value


class RequestError(BridgeError):
    """A request that cannot be read; the text is meant for the caller."""

    def __init__(self, text: str, *, param: str | None = None) -> None:
        super().__init__(text)
        self.param = param


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that the client runs: the agent may call it, the client brings the result."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True, kw_only=True)
class Asked:
    """One turn: what is new, what was said before, and what the client brings along.

    New are results of tool calls, by the id of the call, and what the user says.
    """

    results: dict[str, Part] = field(default_factory=dict[str, Part])
    spoken: list[Part] = field(default_factory=list[Part])
    history: list[Message] = field(default_factory=list[Message])
    tools: list[ClientTool] = field(default_factory=list[ClientTool])
    instructions: list[str] = field(default_factory=list[str])
    state: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_empty(self) -> bool:
        return not self.results and not self.spoken

    @property
    def tool_names(self) -> list[str]:
        return [tool.name for tool in self.tools]


def result_part(call_id: str, name: str, output: Any) -> Part:
    """The result of a call as ADK spells it; text that is a JSON object is taken as one."""
    response = dict(object_of(decoded_json(output))) or {"result": output}
    data = {"id": call_id, "name": name, "response": response}
    return _adk_part({key: value for key, value in data.items() if value}, FUNCTION_RESPONSE)


def call_part(call_id: str, name: str, arguments: str) -> Part:
    args = dict(object_of(decoded_json(arguments)))
    return _adk_part({"id": call_id, "name": name, "args": args}, FUNCTION_CALL)


def _adk_part(data: dict[str, Any], kind: str) -> Part:
    return Part(data=to_value(data), metadata=to_struct({ADK_TYPE: kind}))
