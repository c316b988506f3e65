"""What a client of another protocol brings to a run: tools, instructions, state and history."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from a2a.types import Message, Part, Role
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.tools import BaseTool, ToolContext
from google.genai import types

from aion_adk.protocol.parts import FUNCTION_CALL, adk_type_of
from aion_adk.protocol.structs import to_dict
from aion_adk.protocol.to_genai import to_genai_part

CLIENT_SIDE = "aion_adk.context.client_tools"
"""The key of a call's state under which its `ClientSide` is."""

_EARLIER = "earlier"
# State that outlives the session, or that ADK and this bridge keep for themselves.
_RESERVED_STATE = ("app:", "user:", "temp:", "a2a_", "_")


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that the client runs: the agent may call it, the client brings the result."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


class RemoteTool(BaseTool):
    """Declares a client's tool to a model. A call of it ends the turn; the result comes later."""

    def __init__(self, tool: ClientTool) -> None:
        super().__init__(name=tool.name, description=tool.description, is_long_running=True)
        self._parameters = tool.parameters

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._parameters or {"type": "object", "properties": {}},
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> None:
        return None


@dataclass(frozen=True, slots=True)
class ClientSide:
    """Put into the state of a call and read by the run that the call starts."""

    tools: list[BaseTool] = field(default_factory=list[BaseTool])
    instructions: list[str] = field(default_factory=list[str])
    state: dict[str, Any] = field(default_factory=dict[str, Any])
    history: list[Message] = field(default_factory=list[Message])

    def extend(self, request: LlmRequest) -> None:
        """Adds the tools and instructions to a model request; the agent's own tools win."""
        request.append_tools([tool for tool in self.tools if tool.name not in request.tools_dict])
        if self.instructions:
            request.append_instructions(self.instructions)

    def earlier_events(self, author: str) -> list[Event]:
        """The history as events for a session that does not have it yet."""
        return [
            Event(
                author="user" if message.role == Role.ROLE_USER else author,
                invocation_id=_EARLIER,
                content=_content(message),
            )
            for message in self.history
        ]


def settable_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Without the keys that a client may not set."""
    return {key: value for key, value in state.items() if not key.startswith(_RESERVED_STATE)}


def _content(message: Message) -> types.Content:
    role = "user" if message.role == Role.ROLE_USER else "model"
    return types.Content(role=role, parts=[part for item in message.parts if (part := _part(item))])


def _part(part: Part) -> types.Part | None:
    if adk_type_of(part) != FUNCTION_CALL:
        return to_genai_part(part)
    call = types.FunctionCall.model_validate(to_dict(part.data.struct_value))
    return types.Part(function_call=call)
