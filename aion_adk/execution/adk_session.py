"""Whose ADK session a call belongs to, and what ADK's services keep of it."""

import hashlib
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

from a2a.server.agent_execution import RequestContext
from a2a.types import Artifact, Part
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import Session
from google.genai import types

from aion_adk.context.client_tools import ClientSide
from aion_adk.execution.pauses.calls import is_confirmation
from aion_adk.protocol.from_genai import reply_parts, to_a2a_part
from aion_adk.protocol.structs import to_struct

UserIdResolver = Callable[[RequestContext], str]

# A session id that every session and artifact service of ADK accepts.
_PORTABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LONGEST_USER_ID = 128
_USER_NAMESPACE = "user:"


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: str
    session_id: str
    authenticated: bool


def caller_of(context: RequestContext, *, user_id: UserIdResolver | None = None) -> Caller:
    """An unverified user name is never used: without authentication the context id stands in."""
    context_id = context.context_id or ""
    session_id = context_id if _PORTABLE_ID.fullmatch(context_id) else f"ctx-{_digest(context_id)}"
    user = context.call_context.user
    authenticated = user.is_authenticated and bool(user.user_name)
    verified = user.user_name if authenticated else f"A2A_USER_{session_id}"
    name = (user_id(context) if user_id else verified) or verified
    if name != name.strip() or len(name) > _LONGEST_USER_ID:
        name = f"user-{_digest(name)}"
    return Caller(name, session_id, authenticated)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def _session_of(runner: Runner, caller: Caller) -> Session | None:
    return await runner.session_service.get_session(
        app_name=runner.app_name, user_id=caller.user_id, session_id=caller.session_id
    )


async def events_of(runner: Runner, caller: Caller) -> list[Event]:
    session = await _session_of(runner, caller)
    return session.events if session else []


async def begin_session(runner: Runner, caller: Caller, client: ClientSide) -> None:
    """Creates the session with the history that the client brings, unless the session exists."""
    if not client.history or await _session_of(runner, caller):
        return
    session = await runner.session_service.create_session(
        app_name=runner.app_name, user_id=caller.user_id, session_id=caller.session_id
    )
    author = runner.agent.name if runner.agent else runner.app_name
    for event in client.earlier_events(author):
        await runner.session_service.append_event(session, event)


async def refuse(runner: Runner, caller: Caller, calls: Sequence[types.FunctionCall]) -> None:
    """Answers the calls of a canceled task, because models reject a call that has no response."""
    session = await _session_of(runner, caller)
    if session is None:
        return
    origins = {call.id: event for event in session.events for call in event.get_function_calls()}
    for call in calls:
        if call.id not in origins:
            continue
        response: dict[str, Any] = {"error": "The caller canceled the request."}
        if is_confirmation(call):
            response = {"confirmed": False}
        refusal = types.FunctionResponse(id=call.id, name=call.name, response=response)
        event = Event(
            author="user",
            invocation_id=origins[call.id].invocation_id,
            branch=origins[call.id].branch,
            content=types.Content(role="user", parts=[types.Part(function_response=refusal)]),
        )
        await runner.session_service.append_event(session, event)


async def last_agent_parts(
    runner: Runner, caller: Caller, invocation_ids: Container[str]
) -> list[Part]:
    """The last content of an agent in these invocations, as the session has it."""
    for event in reversed(await events_of(runner, caller)):
        if event.invocation_id not in invocation_ids:
            break
        if event.author != "user" and (parts := reply_parts(event.content)):
            return parts
    return []


async def saved_file(
    runner: Runner, caller: Caller, *, filename: str, version: int
) -> Artifact | None:
    """A file of ADK's artifact service as an A2A artifact whose id is the filename."""
    if runner.artifact_service is None:
        return None
    saved = await runner.artifact_service.load_artifact(
        app_name=runner.app_name,
        user_id=caller.user_id,
        session_id=caller.session_id,
        filename=filename,
        version=version,
    )
    part = to_a2a_part(saved) if saved else None
    if part is None:
        return None
    part.filename = filename.removeprefix(_USER_NAMESPACE)
    return Artifact(
        artifact_id=filename, name=filename, parts=[part], metadata=to_struct({"version": version})
    )
