"""Calls of an agent that its caller has to answer: heard in a run, written to a task, read back."""

from collections.abc import Iterable, Sequence
from typing import Any

from a2a.types import Message, Part, TaskState
from google.adk.events import Event
from google.adk.flows.llm_flows.functions import (
    REQUEST_CONFIRMATION_FUNCTION_CALL_NAME as CONFIRMATION,
)
from google.adk.flows.llm_flows.functions import (
    REQUEST_EUC_FUNCTION_CALL_NAME as CREDENTIAL,
)
from google.adk.flows.llm_flows.functions import (
    REQUEST_INPUT_FUNCTION_CALL_NAME as INPUT,
)
from google.genai import types
from pydantic import ValidationError

from aion_adk.errors import TaskFailed
from aion_adk.outbound import function_call_part, reply_parts
from aion_adk.parts import FUNCTION_CALL, adk_type_of, is_long_running
from aion_adk.values import object_of, to_dict

_SHOWN_OAUTH_FIELDS = ("clientId", "authUri", "state", "redirectUri", "nonce")


class PendingCalls:
    """The long-running calls of one turn that nobody has answered."""

    def __init__(self) -> None:
        self._calls: dict[str, types.FunctionCall] = {}
        self._beside_calls: dict[tuple[str, str | None], list[Part]] = {}
        self.said: list[Part] = []
        """What the agent said with the calls and after them."""

    def hear(self, event: Event) -> None:
        if event.partial:
            return
        words = reply_parts(event.content)
        waiting = event.long_running_tool_ids or set[str]()
        asked = [call for call in event.get_function_calls() if call.id in waiting]
        if asked:
            # A confirmation is an event of its own, after the words and the call it is about.
            words = words or self._beside_calls.pop(_speaker(event), [])
        elif event.get_function_calls():
            self._beside_calls[_speaker(event)] = words
        self._calls.update({call.id: call for call in asked if call.id})
        if self._calls and event.author != "user":
            self.said += words

    def answer(self, responses: Iterable[types.FunctionResponse]) -> None:
        for response in responses:
            self._calls.pop(response.id or "", None)

    @property
    def calls(self) -> list[types.FunctionCall]:
        return list(self._calls.values())


def paused_state(calls: Iterable[types.FunctionCall]) -> TaskState:
    if any(call.name == CREDENTIAL for call in calls):
        return TaskState.TASK_STATE_AUTH_REQUIRED
    return TaskState.TASK_STATE_INPUT_REQUIRED


def call_part(call: types.FunctionCall) -> Part:
    """The call as data that a program can answer, without secrets of this side."""
    if call.name == CREDENTIAL:
        call = call.model_copy(update={"args": _without_secrets(call.args or {})})
    return function_call_part(call, long_running=True)


def calls_in(message: Message) -> list[types.FunctionCall]:
    """The pending calls that an agent's message carries."""
    found: list[types.FunctionCall] = []
    for part in message.parts:
        if adk_type_of(part) != FUNCTION_CALL or not is_long_running(part):
            continue
        try:
            found.append(types.FunctionCall.model_validate(to_dict(part.data.struct_value)))
        except ValidationError:
            continue
    return found


def in_steps(
    responses: Sequence[types.FunctionResponse], events: Sequence[Event]
) -> list[types.Content]:
    """One message for each agent and branch that asked.

    ADK resumes a single agent with a message and drops the responses that belong to another.
    """
    askers = {call.id: _speaker(event) for event in events for call in event.get_function_calls()}
    steps: dict[tuple[str, str | None], list[types.Part]] = {}
    for response in responses:
        asker = askers.get(response.id)
        if asker is None:
            raise TaskFailed("The agent no longer knows the request that was answered.")
        steps.setdefault(asker, []).append(types.Part(function_response=response))
    return [types.Content(role="user", parts=parts) for parts in steps.values()]


def refusals(calls: Sequence[types.FunctionCall], events: Sequence[Event]) -> list[Event]:
    """Events that answer the calls with a refusal: a model takes no call without a response."""
    asked = {call.id: event for event in events for call in event.get_function_calls()}
    return [
        Event(
            author="user",
            invocation_id=asked[call.id].invocation_id,
            branch=asked[call.id].branch,
            content=types.Content(role="user", parts=[_refusal(call)]),
        )
        for call in calls
        if call.id in asked
    ]


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


def _speaker(event: Event) -> tuple[str, str | None]:
    return event.author, event.branch


def _refusal(call: types.FunctionCall) -> types.Part:
    response: dict[str, Any] = {"error": "The caller canceled the request."}
    if is_confirmation(call):
        response = {"confirmed": False}
    return types.Part(
        function_response=types.FunctionResponse(id=call.id, name=call.name, response=response)
    )


def _without_secrets(args: dict[str, Any]) -> dict[str, Any]:
    """A credential request holds this server's own client secret and keys: only what signing in
    takes is shown."""
    config = auth_config(types.FunctionCall(args=args))
    credential = object_of(config, "exchangedAuthCredential")
    oauth2 = object_of(credential, "oauth2")
    shown: dict[str, Any] = {"authScheme": config.get("authScheme")}
    if credential:
        kept = {name: oauth2[name] for name in _SHOWN_OAUTH_FIELDS if oauth2.get(name)}
        shown["exchangedAuthCredential"] = {"authType": credential.get("authType"), "oauth2": kept}
    rest = {key: value for key, value in args.items() if key not in ("authConfig", "auth_config")}
    return {**rest, "authConfig": shown}
