"""A caller's message as answers to the calls that a task waits for."""

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

from aion_adk.inbound import is_function_response, to_function_response
from aion_adk.pending import (
    CREDENTIAL,
    auth_config,
    calls_in,
    is_confirmation,
    response_schema,
)
from aion_adk.prompt import question
from aion_adk.snapshot import PAUSED_STATES
from aion_adk.values import decoded, object_of, to_plain, unwrapped

_YES = frozenset({"true", "yes", "y", "approve", "approved", "confirm", "confirmed"})
_NO = frozenset({"false", "no", "n", "reject", "rejected", "deny", "denied"})
_CONFIRMATION_FIELDS = frozenset({"confirmed", "payload", "hint"})

Calls = dict[str, types.FunctionCall]


@dataclass(slots=True)
class Waiting:
    """The calls still open, and the answers held until the last of them has come.

    ADK takes a call that is answered alone for the end of its agent's work, so nothing runs
    before every call is answered.
    """

    asked: list[types.FunctionCall] = field(default_factory=list[types.FunctionCall])
    open: Calls = field(default_factory=Calls)
    held: list[types.FunctionResponse] = field(default_factory=list[types.FunctionResponse])
    problems: list[str] = field(default_factory=list[str])

    def ask(self, calls: list[types.FunctionCall]) -> None:
        for call in calls:
            if call.id and call.id not in self.open:
                self.asked.append(call)
                self.open[call.id] = call

    def hear(self, message: Message) -> None:
        """Takes the answers that fit; what does not fit is a problem to tell the caller."""
        given, self.problems = _given_answers(message, self.open)
        for call_id, value in given.items():
            call = self.open[call_id]
            response = fitting_response(call, value)
            if response is None:
                self.problems.append(self._misfit(call))
                continue
            del self.open[call_id]
            self.held.append(types.FunctionResponse(id=call_id, name=call.name, response=response))

    def _misfit(self, call: types.FunctionCall) -> str:
        """What is asked again right after it needs no second mention."""
        return f"Not an answer to: {question(call)}" if len(self.asked) > 1 else "Not an answer."

    @property
    def content(self) -> types.Content:
        """The answers, in the order of the questions, as the message that resumes the agent."""
        order = [call.id for call in self.asked]
        held = sorted(self.held, key=lambda response: order.index(response.id))
        parts = [types.Part(function_response=response) for response in held]
        return types.Content(role="user", parts=parts)


def waiting_of(task: Task | None, *, before: Message | None = None) -> Waiting:
    """What a stored task waits for, `before` it gets this message.

    It is read from the task's history, which outlives the process that asked.
    """
    waiting = Waiting()
    if task is None or task.status.state not in PAUSED_STATES:
        return waiting
    new_id = before.message_id if before else None
    history = [message for message in task.history if message.message_id != new_id]
    if task.status.HasField("message") and task.status.message not in history:
        history.append(task.status.message)
    for message in history:
        if message.role == Role.ROLE_AGENT:
            waiting.ask(calls_in(message))
        elif waiting.open:
            waiting.hear(message)
            if not waiting.open:
                waiting = Waiting()
    waiting.problems = []
    return waiting


def fitting_response(call: types.FunctionCall, value: Any) -> dict[str, Any] | None:
    """The value as the response that ADK takes for this call; None if it does not fit."""
    if is_confirmation(call):
        return _confirmation(value)
    if call.name == CREDENTIAL:
        return _credential(call, value)
    if schema := response_schema(call):
        return _fitting_schema(call, schema, value)
    return _as_response(decoded(value))


def _given_answers(message: Message, calls: Calls) -> tuple[dict[str, Any], list[str]]:
    """Values by call id, and what is wrong with the rest of the message."""
    given, problems = _function_responses(message, calls)
    plain: list[Any] = []
    for value in _plain_values(message):
        by_id = _by_id(value, calls)
        given.update(by_id)
        plain += [] if by_id else [value]
    unanswered = [call_id for call_id in calls if call_id not in given]
    if len(plain) == 1 and len(unanswered) == 1:
        given[unanswered[0]] = plain[0]
    elif unanswered and (plain or not given) and not problems:
        problems.append("The answer does not say which call it is for.")
    return given, problems


def _function_responses(message: Message, calls: Calls) -> tuple[dict[str, Any], list[str]]:
    given: dict[str, Any] = {}
    problems: list[str] = []
    for part in filter(is_function_response, message.parts):
        try:
            response = to_function_response(part)
        except InvalidParamsError as error:
            problems.append(str(error))
            continue
        if call_id := _answered_call(response, calls):
            given[call_id] = response.response or {}
        else:
            problems.append(f"No pending call has the id {response.id or '(none)'}.")
    return given, problems


def _plain_values(message: Message) -> list[Any]:
    """Data, else text: text beside data is a remark on it."""
    values = [
        to_plain(part.data)
        for part in message.parts
        if part.HasField("data") and not is_function_response(part)
    ]
    text = "\n".join(part.text for part in message.parts if part.text).strip()
    return values or ([text] if text else [])


def _answered_call(response: types.FunctionResponse, calls: Calls) -> str | None:
    if response.id:
        return response.id if response.id in calls else None
    named = [call_id for call_id, call in calls.items() if call.name == response.name]
    return named[0] if len(named) == 1 else None


def _by_id(value: Any, calls: Calls) -> dict[str, Any]:
    """Answers that name their calls: `{"<id>": answer, …}` or `{"id": …, "response": answer}`."""
    answers = object_of(decoded(value))
    if answers and answers.keys() <= calls.keys():
        return answers
    if answers.get("id") in calls and "response" in answers:
        return {answers["id"]: answers["response"]}
    return {}


def _confirmation(value: Any) -> dict[str, Any] | None:
    """Only the boolean counts in data, only a plain word in text; nothing else is a yes or a no."""
    match decoded(value):
        case bool() as confirmed:
            return {"confirmed": confirmed}
        case str() as text:
            word = text.strip().rstrip(".!").casefold()
            if word in _YES | _NO:
                return {"confirmed": word in _YES}
            return None
        case {"result": inner, **rest} | {"response": inner, **rest} if not rest:
            return _confirmation(inner)
        case {"confirmed": bool(), **rest} as answer if rest.keys() <= _CONFIRMATION_FIELDS:
            return answer
        case _:
            return None


def _fitting_schema(
    call: types.FunctionCall, schema: dict[str, Any], value: Any
) -> dict[str, Any] | None:
    for candidate in _readings(value, schema):
        if not _is_valid(candidate, schema):
            continue
        return _as_response(_kept_as_text(call, candidate))
    return None


def _readings(value: Any, schema: dict[str, Any]) -> list[Any]:
    """The value itself, and what a person may have meant by the text of it."""
    value = unwrapped(value)
    if not isinstance(value, str):
        return [value]
    readings: list[Any] = [value]
    word = value.strip().casefold()
    if schema.get("type") == "boolean" and word in _YES | _NO:
        readings.append(word in _YES)
    with suppress(ValueError):
        readings.append(json.loads(value))
    return readings


def _is_valid(value: Any, schema: dict[str, Any]) -> bool:
    try:
        # A model may have written the schema: without a registry, what it refers to is fetched.
        jsonschema.validate(value, schema, registry=Registry[Any]())
    except jsonschema.ValidationError:
        return False
    except (jsonschema.SchemaError, Unresolvable):
        return True
    return True


def _kept_as_text(call: types.FunctionCall, value: Any) -> Any:
    # A workflow reads the text of a result as JSON where it can: "5" would become a number.
    if not isinstance(value, str) or "interruptId" not in (call.args or {}):
        return value
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value)


def _credential(call: types.FunctionCall, value: Any) -> dict[str, Any] | None:
    value = decoded(unwrapped(decoded(value)))
    if isinstance(value, str):
        value = _credential_of_text(call, value.strip())
    with suppress(ValidationError):
        if AuthConfig.model_validate(value).exchanged_auth_credential:
            return object_of(value)
    with suppress(ValidationError):
        AuthCredential.model_validate(value)
        return object_of(value)
    return None


def _credential_of_text(call: types.FunctionCall, text: str) -> dict[str, Any]:
    """An API key, a token, or the address that signing in ended at."""
    config = auth_config(call)
    scheme = object_of(config, "authScheme")
    match scheme.get("type"):
        case "apiKey":
            return {"authType": "apiKey", "apiKey": text}
        case "http":
            name = scheme.get("scheme") or "bearer"
            return {"authType": "http", "http": {"scheme": name, "credentials": {"token": text}}}
        case _:
            asked = object_of(config, "exchangedAuthCredential")
            oauth2 = {**object_of(asked, "oauth2"), "authResponseUri": text}
            return {"authType": asked.get("authType") or "oauth2", "oauth2": oauth2}


def _as_response(value: Any) -> dict[str, Any]:
    return object_of(value) if isinstance(value, dict) else {"result": value}
