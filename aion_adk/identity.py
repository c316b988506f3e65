"""Who is calling, and which ADK session the call belongs to."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from a2a.server.agent_execution import RequestContext

UserIdResolver = Callable[[RequestContext], str]

# What every session and artifact service of ADK takes as a session id.
_PORTABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LONGEST_USER_ID = 128


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: str
    session_id: str
    authenticated: bool


def caller_of(context: RequestContext, *, user_id: UserIdResolver | None = None) -> Caller:
    """A name nobody verified is never used: without authentication it comes from the context."""
    context_id = context.context_id or ""
    user = context.call_context.user
    authenticated = user.is_authenticated and bool(user.user_name)
    session_id = session_id_of(context_id)
    verified = user.user_name if authenticated else f"A2A_USER_{session_id}"
    name = user_id(context) if user_id else verified
    return Caller(_short(name or verified), session_id, authenticated)


def session_id_of(context_id: str) -> str:
    """The context id, or a digest of it where a session service could not take it."""
    return context_id if _PORTABLE_ID.fullmatch(context_id) else f"ctx-{_digest(context_id)}"


def _short(name: str) -> str:
    stripped = name.strip()
    return name if stripped == name and len(name) <= _LONGEST_USER_ID else f"user-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
