"""What an agent may read of the request it serves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from a2a.types import Message, Task
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.readonly_context import ReadonlyContext

INBOX_ATTRIBUTE = "a2a_inbox"

AnyContext = InvocationContext | ReadonlyContext
"""Every context that ADK hands to agents, tools, callbacks, plugins and instruction providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class A2AInbox:
    """A snapshot of the request, the same for every agent, tool and callback of the run.

    It holds copies: nothing done to it reaches the server. `origin` is "adk" when the agent
    runs under an adk command, where the inbox is built from the ADK session.
    """

    task: Task
    message: Message
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    user_id: str = ""
    authenticated: bool = False
    extensions: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    origin: Literal["a2a", "adk"] = "a2a"


def inbox_of(ctx: AnyContext) -> A2AInbox:
    """The inbox of any ADK context; a LookupError where the bridge's plugin is not installed."""
    inbox = getattr(invocation_of(ctx), INBOX_ATTRIBUTE, None)
    if inbox is None:
        raise LookupError("no a2a_inbox here: add A2ABridgePlugin() to the plugins of the App")
    return inbox


def invocation_of(ctx: AnyContext) -> InvocationContext:
    if isinstance(ctx, InvocationContext):
        return ctx
    # ReadonlyContext has no public way back to its invocation, and Context's
    # get_invocation_context() copies it, session proxy and all, on every call.
    return ctx._invocation_context  # pyright: ignore[reportPrivateUsage]  # reason above


_CREDENTIAL_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-goog-iap-jwt-assertion"}
)
_CREDENTIAL_WORDS = ("token", "secret", "password", "api-key", "apikey", "credential", "signature")


def without_credentials(headers: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(
        {
            name: value
            for name, value in headers.items()
            if name.lower() not in _CREDENTIAL_HEADERS
            and not any(word in name.lower() for word in _CREDENTIAL_WORDS)
        }
    )
