"""Matches a caller's message to the calls that a task waits for."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import jsonschema
from a2a.types import Message, Role, Task
from a2a.utils.errors import InvalidParamsError
from google.adk.auth import AuthConfig, AuthCredential
from google.genai import types
from pydantic import ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from aion_adk.execution.pauses.calls import (
    CREDENTIAL,
    auth_config,
    is_confirmation,
    pending_calls_in,
    response_schema,
)
from aion_adk.execution.pauses.questions import question
from aion_adk.protocol.structs import decoded_json, object_of, to_plain, unwrapped
from aion_adk.protocol.task_state import PAUSED_STATES
from aion_adk.protocol.to_genai import is_function_response, to_function_response

_YES = frozenset({"true", "yes", "y", "approve", "approved", "confirm", "confirmed"})
_NO = frozenset({"false", "no", "n", "reject", "rejected", "deny", "denied"})
_CONFIRMATION_FIELDS = frozenset({"confirmed", "payload", "hint"})

CallsById = dict[str, types.FunctionCall]


@dataclass(slots=True)
class OpenCalls:
    """The calls that a task waits for, and the responses received so far.

    To ADK a single answered call is the end of its agent's work, so nothing runs before every
    call is answered.
    """

    calls: list[types.FunctionCall] = field(default_factory=list[types.FunctionCall])
    unanswered: CallsById = field(default_factory=CallsById)
    responses: list[types.FunctionResponse] = field(default_factory=list[types.FunctionResponse])
    problems: list[str] = field(default_factory=list[str])
    """What was wrong with the last message, for its sender."""

    def add_calls(self, calls: list[types.FunctionCall]) -> None:
        for call in calls:
            if call.id and call.id not in self.unanswered:
                self.calls.append(call)
                self.unanswered[call.id] = call

    def add_answers(self, message: Message) -> None:
        """Takes the answers that fit; `problems` says what is wrong with the rest."""
        answers, self.problems = _answers_by_id(message, self.unanswered)
        for call_id, value in answers.items():
            call = self.unanswered[call_id]
            response = fitting_response(call, value)
            if response is not None:
                del self.unanswered[call_id]
                self.responses.append(
                    types.FunctionResponse(id=call_id, name=call.name, response=response)
                )
            elif len(self.calls) > 1:
                self.problems.append(f"Not an answer to: {question(call)}")
            else:  # the question itself follows
                self.problems.append("Not an answer.")

    @property
    def content(self) -> types.Content:
        """The responses, in the order of the calls, as the message that resumes the agent."""
        order = [call.id for call in self.calls]
        responses = sorted(self.responses, key=lambda response: order.index(response.id))
        parts = [types.Part(function_response=response) for response in responses]
        return types.Content(role="user", parts=parts)


def open_calls_of(task: Task | None, *, before: Message | None = None) -> OpenCalls:
    """The calls that a stored task waits for, not counting what the message `before` answers.

    They are read from the task's history, which outlives the process that wrote it.
    """
    found = OpenCalls()
    if task is None or task.status.state not in PAUSED_STATES:
        return found
    new_id = before.message_id if before else None
    history = [message for message in task.history if message.message_id != new_id]
    if task.status.HasField("message") and task.status.message not in history:
        history.append(task.status.message)
    for message in history:
        if message.role == Role.ROLE_AGENT:
            found.add_calls(pending_calls_in(message))
        elif found.unanswered:
            found.add_answers(message)
            if not found.unanswered:
                found = OpenCalls()
    found.problems = []
    return found


def fitting_response(call: types.FunctionCall, value: Any) -> dict[str, Any] | None:
    """The value as the response that ADK expects for this call; None if it does not fit."""
    if is_confirmation(call):
        return _confirmation(value)
    if call.name == CREDENTIAL:
        return _credential(call, value)
    if schema := response_schema(call):
        return _fitting_schema(call, schema, value)
    return _as_response(decoded_json(value))


def _answers_by_id(message: Message, calls: CallsById) -> tuple[dict[str, Any], list[str]]:
    """The answers in the message by the id of their call, and what is wrong with the rest."""
    answers, problems = _function_responses(message, calls)
    data = [
        to_plain(part.data)
        for part in message.parts
        if part.HasField("data") and not is_function_response(part)
    ]
    text = "\n".join(part.text for part in message.parts if part.text).strip()
    unnamed: list[Any] = []
    # Text beside data is a remark on it.
    for value in data or ([text] if text else []):
        by_id = object_of(decoded_json(value))
        call_id = by_id.get("id")
        if by_id and by_id.keys() <= calls.keys():
            answers.update(by_id)
        elif isinstance(call_id, str) and call_id in calls and "response" in by_id:
            answers[call_id] = by_id["response"]
        else:
            unnamed.append(value)
    unanswered = [call_id for call_id in calls if call_id not in answers]
    if len(unnamed) == 1 and len(unanswered) == 1:
        answers[unanswered[0]] = unnamed[0]
    elif unanswered and (unnamed or not answers) and not problems:
        problems.append("The answer does not say which call it is for.")
    return answers, problems


def _function_responses(message: Message, calls: CallsById) -> tuple[dict[str, Any], list[str]]:
    answers: dict[str, Any] = {}
    problems: list[str] = []
    for part in filter(is_function_response, message.parts):
        try:
            response = to_function_response(part)
        except InvalidParamsError as error:
            problems.append(str(error))
            continue
        same_name = [call_id for call_id, call in calls.items() if call.name == response.name]
        call_id = response.id or (same_name[0] if len(same_name) == 1 else "")
        if call_id in calls:
            answers[call_id] = response.response or {}
        else:
            problems.append(f"No pending call has the id {response.id or '(none)'}.")
    return answers, problems


def _confirmation(value: Any) -> dict[str, Any] | None:
    """In data only a boolean counts, in text only a plain word; nothing else is a yes or a no."""
    match decoded_json(value):
        case bool() as confirmed:
            return {"confirmed": confirmed}
        case str() as text:
            word = text.strip().rstrip(".!").casefold()
            return {"confirmed": word in _YES} if word in _YES | _NO else None
        case {"result": inner, **rest} | {"response": inner, **rest} if not rest:
            return _confirmation(inner)
        case {"confirmed": bool(), **rest} as answer if rest.keys() <= _CONFIRMATION_FIELDS:
            return answer
        case _:
            return None


def _fitting_schema(
    call: types.FunctionCall, schema: dict[str, Any], value: Any
) -> dict[str, Any] | None:
    """The value itself, or what a person may have meant by the text of it."""
    value = unwrapped(value)
    readings: list[Any] = [value]
    if isinstance(value, str):
        word = value.strip().casefold()
        if schema.get("type") == "boolean" and word in _YES | _NO:
            readings.append(word in _YES)
        with suppress(ValueError):
            readings.append(json.loads(value))
    for reading in readings:
        if not _is_valid(reading, schema):
            continue
        if isinstance(reading, str) and "interruptId" in (call.args or {}):
            # A workflow decodes a text that is JSON: the text "5" would become a number.
            with suppress(ValueError):
                json.loads(reading)
                reading = json.dumps(reading)
        return _as_response(reading)
    return None


def _is_valid(value: Any, schema: dict[str, Any]) -> bool:
    try:
        # A model may have written the schema: without a registry, its references are fetched.
        jsonschema.validate(value, schema, registry=Registry[Any]())
    except jsonschema.ValidationError:
        return False
    except (jsonschema.SchemaError, Unresolvable):
        return True
    return True


def _credential(call: types.FunctionCall, value: Any) -> dict[str, Any] | None:
    value = decoded_json(unwrapped(decoded_json(value)))
    if isinstance(value, str):
        value = _credential_from_text(call, value.strip())
    with suppress(ValidationError):
        if AuthConfig.model_validate(value).exchanged_auth_credential:
            return object_of(value)
    with suppress(ValidationError):
        AuthCredential.model_validate(value)
        return object_of(value)
    return None


def _credential_from_text(call: types.FunctionCall, text: str) -> dict[str, Any]:
    """The text as an API key, a token, or the address that the sign-in redirected to."""
    config = auth_config(call)
    scheme = object_of(config, "authScheme")
    match scheme.get("type"):
        case "apiKey":
            return {"authType": "apiKey", "apiKey": text}
        case "http":
            name = scheme.get("scheme") or "bearer"
            return {"authType": "http", "http": {"scheme": name, "credentials": {"token": text}}}
        case _:
            started = object_of(config, "exchangedAuthCredential")
            oauth2 = {**object_of(started, "oauth2"), "authResponseUri": text}
            return {"authType": started.get("authType") or "oauth2", "oauth2": oauth2}


def _as_response(value: Any) -> dict[str, Any]:
    return object_of(value) if isinstance(value, dict) else {"result": value}
