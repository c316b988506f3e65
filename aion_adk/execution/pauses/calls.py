"""The calls that an agent's caller has to answer: in a run, in a task's message, and read back."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from a2a.types import Message, Part, TaskState
from google.adk.events import Event
from google.adk.flows.llm_flows.functions import (
    REQUEST_CONFIRMATION_FUNCTION_CALL_NAME as CONFIRMATION,
)
from google.adk.flows.llm_flows.functions import REQUEST_EUC_FUNCTION_CALL_NAME as CREDENTIAL
from google.adk.flows.llm_flows.functions import REQUEST_INPUT_FUNCTION_CALL_NAME as INPUT
from google.genai import types
from pydantic import ValidationError

from aion_adk.errors import TaskFailed
from aion_adk.protocol.from_genai import function_call_part, reply_parts
from aion_adk.protocol.parts import FUNCTION_CALL, adk_type_of, is_long_running
from aion_adk.protocol.structs import object_of, to_dict

_FIELDS_TO_SIGN_IN = ("clientId", "authUri", "state", "redirectUri", "nonce")


class PendingCalls:
    """The long-running calls of one turn that are not answered yet."""

    def __init__(self) -> None:
        self.calls: dict[str, types.FunctionCall] = {}
        self._parts_beside_calls: dict[tuple[str, str | None], list[Part]] = {}
        self.parts: list[Part] = []
        """What the agent wrote beside the pending calls and after them."""

    def on_event(self, event: Event) -> None:
        calls = event.get_function_calls()
        if event.partial or not (calls or self.calls):
            return
        agent = (event.author, event.branch)
        parts = reply_parts(event.content)
        long_running = [call for call in calls if call.id in (event.long_running_tool_ids or ())]
        if long_running:
            # A confirmation is an event of its own, after the text and the call that it is about.
            parts = parts or self._parts_beside_calls.pop(agent, [])
        elif calls:
            self._parts_beside_calls[agent] = parts
        self.calls.update({call.id: call for call in long_running if call.id})
        if self.calls and event.author != "user":
            self.parts += parts

    def on_responses(self, responses: Iterable[types.FunctionResponse]) -> None:
        for response in responses:
            self.calls.pop(response.id or "", None)


def paused_state(calls: Iterable[types.FunctionCall]) -> TaskState:
    if any(call.name == CREDENTIAL for call in calls):
        return TaskState.TASK_STATE_AUTH_REQUIRED
    return TaskState.TASK_STATE_INPUT_REQUIRED


def pending_call_part(call: types.FunctionCall) -> Part:
    """The call as data that a program can answer.

    A credential request holds this server's own client secret and keys: of those only what
    signing in takes is shown.
    """
    if call.name == CREDENTIAL:
        config = auth_config(call)
        credential = object_of(config, "exchangedAuthCredential")
        oauth2 = object_of(credential, "oauth2")
        shown: dict[str, Any] = {"authScheme": config.get("authScheme")}
        if credential:
            shown["exchangedAuthCredential"] = {
                "authType": credential.get("authType"),
                "oauth2": {name: oauth2[name] for name in _FIELDS_TO_SIGN_IN if oauth2.get(name)},
            }
        args = {**(call.args or {}), "authConfig": shown}
        args.pop("auth_config", None)
        call = call.model_copy(update={"args": args})
    return function_call_part(call, long_running=True)


def pending_calls_in(message: Message) -> list[types.FunctionCall]:
    """The pending calls that an agent's message carries."""
    calls: list[types.FunctionCall] = []
    for part in message.parts:
        if adk_type_of(part) == FUNCTION_CALL and is_long_running(part):
            with suppress(ValidationError):
                calls.append(types.FunctionCall.model_validate(to_dict(part.data.struct_value)))
    return calls


def resume_messages(
    responses: Sequence[types.FunctionResponse], events: Sequence[Event]
) -> list[types.Content]:
    """The responses as one message for each agent and branch that made the calls.

    ADK resumes a single agent with a message and drops the responses that belong to another.
    """
    agents = {
        call.id: (event.author, event.branch)
        for event in events
        for call in event.get_function_calls()
    }
    messages: dict[tuple[str, str | None], types.Content] = {}
    for response in responses:
        if response.id not in agents:
            raise TaskFailed("The agent no longer knows the request that was answered.")
        message = messages.setdefault(agents[response.id], types.Content(role="user", parts=[]))
        message.parts = [*(message.parts or []), types.Part(function_response=response)]
    return list(messages.values())


def is_confirmation(call: types.FunctionCall) -> bool:
    """Whether the answer is a yes or a no to a tool call."""
    if call.name == CONFIRMATION:
        return True
    # A workflow asks for the same thing as input, with the schema of ADK's own answer.
    return response_schema(call).get("title") == "ToolConfirmation"


def response_schema(call: types.FunctionCall) -> dict[str, Any]:
    """The JSON schema that an answer to a request for input has to fit; empty if any does."""
    if call.name != INPUT:
        return {}
    args = call.args or {}
    return object_of(args, "response_schema") or object_of(args, "responseSchema")


def auth_config(call: types.FunctionCall) -> dict[str, Any]:
    return object_of(call.args, "authConfig") or object_of(call.args, "auth_config")
