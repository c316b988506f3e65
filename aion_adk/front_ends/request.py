"""What a client of another protocol sends, as one turn of an A2A task.

Each protocol reads its request body into entries; `client_turn` finds what is new in them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from a2a.types import Message, Part, Role

from aion_adk.context.client_tools import ClientTool
from aion_adk.errors import BridgeError
from aion_adk.formats import media
from aion_adk.formats.tools import ToolCall
from aion_adk.protocol.parts import ADK_TYPE, FUNCTION_CALL, FUNCTION_RESPONSE
from aion_adk.protocol.structs import decoded_json, list_of, object_of, to_struct, to_value


class RequestError(BridgeError):
    """A request that is not valid; the text is meant for the caller."""

    def __init__(self, text: str, *, param: str | None = None) -> None:
        super().__init__(text)
        self.param = param


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message or item of the conversation that a client sends.

    An entry with the role "tool" is the result of the call `call_id`. An entry of the agent may be
    empty (reasoning, an activity): it still marks the end of the agent's last turn.
    """

    role: Literal["system", "user", "agent", "tool"]
    parts: Sequence[Part] = ()
    calls: Sequence[ToolCall] = ()
    call_id: str = ""
    output: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTurn:
    """One turn: what is new, what came before, and the client's own tools and state.

    New are the results of tool calls, by the id of the call, and the parts of the user's message.
    """

    results: dict[str, Part] = field(default_factory=dict[str, Part])
    user_parts: list[Part] = field(default_factory=list[Part])
    history: list[Message] = field(default_factory=list[Message])
    instructions: list[str] = field(default_factory=list[str])
    tools: list[ClientTool] = field(default_factory=list[ClientTool])
    state: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_empty(self) -> bool:
        return not self.results and not self.user_parts

    @property
    def tool_names(self) -> list[str]:
        return [tool.name for tool in self.tools]


def client_turn(
    conversation: Iterable[Entry],
    *,
    param: str,
    tools: Sequence[ClientTool] = (),
    state: Mapping[str, Any] | None = None,
    resumed: Iterable[Entry] = (),
) -> ClientTurn:
    """Splits the conversation after the agent's last entry: what follows is new.

    `resumed` are results sent beside the conversation; they take precedence over those in it.
    `param` is the field of the body that holds the conversation, for errors.
    """
    try:
        entries = list(conversation)
    except media.ContentError as error:
        raise RequestError(str(error), param=param) from error
    by_agent = [index for index, entry in enumerate(entries) if entry.role == "agent"]
    split = by_agent[-1] + 1 if by_agent else 0
    earlier, new = entries[:split], entries[split:]
    names = {call.id: call.name for entry in entries for call in entry.calls}
    resumed_results = {entry.call_id: _result_part(entry, names) for entry in resumed}
    results = {entry.call_id: _result_part(entry, names) for entry in new if entry.role == "tool"}
    return ClientTurn(
        # What resumes comes first in order, and last in precedence.
        results={**resumed_results, **results, **resumed_results},
        user_parts=[part for entry in new if entry.role == "user" for part in entry.parts],
        history=[message for entry in earlier if (message := _history_message(entry, names))],
        instructions=[
            "".join(part.text for part in entry.parts)
            for entry in entries
            if entry.role == "system"
        ],
        tools=list(tools),
        state=dict(state or {}),
    )


def openai_model(body: Mapping[str, Any]) -> str:
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError("you must provide a model parameter", param="model")
    return model


def openai_parts(content: Any) -> list[Part]:
    """The content of an OpenAI message, text or a list of content parts, as A2A parts."""
    if isinstance(content, str):
        return [Part(text=content)] if content else []
    return [media.from_chat_content(object_of(item)) for item in list_of(content)]


def openai_tools(body: Mapping[str, Any]) -> list[ClientTool]:
    """The function tools of a request, nested as in Chat Completions or flat as in Responses."""
    if body.get("tool_choice") == "none":
        return []
    tools: list[ClientTool] = []
    for tool in map(object_of, list_of(body, "tools")):
        function = object_of(tool, "function") or tool
        if tool.get("type") == "function" and function.get("name"):
            description = str(function.get("description") or "")
            parameters = object_of(function, "parameters")
            tools.append(ClientTool(str(function["name"]), description, parameters))
    return tools


def _history_message(entry: Entry, names: Mapping[str, str]) -> Message | None:
    match entry.role:
        case "system":
            return None
        case "tool":
            return Message(role=Role.ROLE_USER, parts=[_result_part(entry, names)])
        case _:
            role = Role.ROLE_USER if entry.role == "user" else Role.ROLE_AGENT
            parts = [*entry.parts, *map(_call_part, entry.calls)]
            return Message(role=role, parts=parts) if parts else None


def _result_part(entry: Entry, names: Mapping[str, str]) -> Part:
    """A result in ADK's form; text that is a JSON object becomes that object."""
    response = object_of(decoded_json(entry.output)) or {"result": entry.output}
    data = {"id": entry.call_id, "name": names.get(entry.call_id, ""), "response": response}
    present = {key: value for key, value in data.items() if value}
    return Part(data=to_value(present), metadata=to_struct({ADK_TYPE: FUNCTION_RESPONSE}))


def _call_part(call: ToolCall) -> Part:
    data = {"id": call.id, "name": call.name, "args": object_of(decoded_json(call.arguments))}
    return Part(data=to_value(data), metadata=to_struct({ADK_TYPE: FUNCTION_CALL}))
