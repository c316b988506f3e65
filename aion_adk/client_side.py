"""What a client of another protocol brings to a run: its tools, its state, what was said before."""

from dataclasses import dataclass, field
from typing import Any

from a2a.types import Message, Part, Role
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.tools import BaseTool, ToolContext
from google.genai import types

from aion_adk.formats.request import Asked, ClientTool
from aion_adk.inbound import to_genai_part
from aion_adk.parts import FUNCTION_CALL, adk_type_of
from aion_adk.values import to_dict

CLIENT_SIDE = "aion_adk.client_side"
"""Where the state of a call holds its `ClientSide`."""

_EARLIER = "earlier"
# State that outlives the session, or that ADK and this bridge keep for themselves.
_NOT_CLIENTS = ("app:", "user:", "temp:", "a2a_", "_")


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
    """Kept in the state of a call and read by the run that the call starts."""

    tools: list[BaseTool] = field(default_factory=list[BaseTool])
    instructions: list[str] = field(default_factory=list[str])
    state: dict[str, Any] = field(default_factory=dict[str, Any])
    history: list[Message] = field(default_factory=list[Message])

    def extend(self, request: LlmRequest) -> None:
        """Adds the tools and instructions to what a model is asked; the agent's own tools win."""
        request.append_tools([tool for tool in self.tools if tool.name not in request.tools_dict])
        if self.instructions:
            request.append_instructions(self.instructions)

    def earlier_events(self, author: str) -> list[Event]:
        """What was said before, as events of a session that does not know it."""
        return [
            Event(
                author="user" if message.role == Role.ROLE_USER else author,
                invocation_id=_EARLIER,
                content=_content(message),
            )
            for message in self.history
        ]


def client_side_of(asked: Asked) -> ClientSide:
    tools: list[BaseTool] = [RemoteTool(tool) for tool in asked.tools]
    state = {key: asked.state[key] for key in asked.state if not key.startswith(_NOT_CLIENTS)}
    return ClientSide(tools, asked.instructions, state, asked.history)


def _content(message: Message) -> types.Content:
    parts = [part for item in message.parts if (part := _part(item))]
    role = "user" if message.role == Role.ROLE_USER else "model"
    return types.Content(role=role, parts=parts)


def _part(part: Part) -> types.Part | None:
    if adk_type_of(part) != FUNCTION_CALL:
        return to_genai_part(part)
    call = types.FunctionCall.model_validate(to_dict(part.data.struct_value))
    return types.Part(function_call=call)
