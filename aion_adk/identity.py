"""Who is calling, and which ADK session the call belongs to."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from a2a.server.agent_execution import RequestContext

UserIdResolver = Callable[[RequestContext], str]

# A session id that every session and artifact service of ADK accepts.
_PORTABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LONGEST_USER_ID = 128


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
