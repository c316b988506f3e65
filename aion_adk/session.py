"""The ADK session of a caller, and the files that the agent saved in it."""

from collections.abc import Container, Sequence
from typing import Any

from a2a.types import Artifact, Part
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import Session
from google.genai import types

from aion_adk.client_side import ClientSide
from aion_adk.identity import Caller
from aion_adk.outbound import reply_parts, to_a2a_part
from aion_adk.pending import is_confirmation
from aion_adk.values import to_struct

_USER_NAMESPACE = "user:"


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
    """Answers the calls of a canceled task, as models reject a call that has no response."""
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
