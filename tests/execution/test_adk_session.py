from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from a2a.auth.user import User
from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from google.adk.agents import BaseAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.artifacts import FileArtifactService
from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService
from google.genai import types

from aion_adk import inbox_of
from aion_adk.execution.adk_session import Caller, UserIdResolver, caller_of
from tests.agents import agent_of, text_event
from tests.serving import reply_of, send, serving


class ClaimedUser(User):
    def __init__(self, name: str, *, verified: bool) -> None:
        self._name = name
        self._verified = verified

    @property
    def is_authenticated(self) -> bool:
        return self._verified

    @property
    def user_name(self) -> str:
        return self._name


def caller(user: User, *, user_id: UserIdResolver | None = None, context_id: str = "c1") -> Caller:
    context = RequestContext(
        call_context=ServerCallContext(user=user), task_id="t1", context_id=context_id
    )
    return caller_of(context, user_id=user_id)


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        (ClaimedUser("ada@example.org", verified=True), ("ada@example.org", True)),
        (ClaimedUser("mallory", verified=False), ("A2A_USER_c1", False)),
        (ClaimedUser("", verified=True), ("A2A_USER_c1", False)),
    ],
)
def test_the_user_is_who_was_verified(user: User, expected: tuple[str, bool]) -> None:
    """A6: a name that nobody verified is never used."""
    seen = caller(user)
    assert (seen.user_id, seen.authenticated, seen.session_id) == (*expected, "c1")


def test_a_resolver_can_name_the_user() -> None:
    """A6"""
    user = ClaimedUser("ada", verified=True)
    assert caller(user, user_id=lambda context: f"tenant of {context.context_id}") == Caller(
        user_id="tenant of c1", session_id="c1", authenticated=True
    )
    assert caller(user, user_id=lambda _: "").user_id == "ada"


@pytest.mark.parametrize("name", ["n" * 500, " padded "])
def test_a_name_that_no_session_service_takes_is_mapped(name: str) -> None:
    """A6"""
    mapped = caller(ClaimedUser(name, verified=True)).user_id
    assert mapped != name
    assert len(mapped) <= 128
    assert mapped == caller(ClaimedUser(name, verified=True)).user_id


async def counting(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    messages = [event for event in ctx.session.events if event.author == "user"]
    yield text_event(agent, ctx, f"{inbox_of(ctx).user_id}: {len(messages)}")


@pytest.mark.parametrize(
    "context_id", ["plain", "c" * 400, "with/slash and space", "../..", "ünïcödé", "a\nb"]
)
async def test_any_context_id_has_a_session_that_is_found_again(
    context_id: str, tmp_path: Path
) -> None:
    """A6: created when missing; an id that the service cannot take is mapped, not rejected."""
    sessions = DatabaseSessionService(f"sqlite+aiosqlite:///{tmp_path / 'sessions.db'}")
    options: dict[str, Any] = {"session_service": sessions}
    async with serving(agent_of(counting), **options) as url:
        replies = [reply_of(await send(url, "hi", context_id=context_id)) for _ in range(2)]
        other = reply_of(await send(url, "hi", context_id="another"))
    assert [reply.rsplit(" ", 1)[1] for reply in replies] == ["1", "2"]
    assert other == "A2A_USER_another: 1"


@pytest.mark.parametrize("context_id", ["a/b", "../../etc", "c:d", "x y"])
async def test_files_of_any_context_can_be_kept(tmp_path: Path, context_id: str) -> None:
    """A6: a caller's context id becomes part of no path."""

    async def saving(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        note = types.Part.from_bytes(data=b"kept", mime_type="text/plain")
        version = await CallbackContext(ctx).save_artifact("note.txt", note)
        yield text_event(agent, ctx, f"version {version}")

    files = FileArtifactService(tmp_path / "files")
    async with serving(agent_of(saving), artifact_service=files) as url:
        task = await send(url, "hi", context_id=context_id)
    assert reply_of(task) == "version 0"
    assert [path.name for path in tmp_path.iterdir()] == ["files"]
