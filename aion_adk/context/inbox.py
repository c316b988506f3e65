"""What an agent may read of the request it serves."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Literal, TypeVar

from a2a.types import Message, Task
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.readonly_context import ReadonlyContext

T = TypeVar("T")

INBOX_ATTRIBUTE = "a2a_inbox"

AnyContext = InvocationContext | ReadonlyContext
"""Every context that ADK hands to agents, tools, callbacks, plugins and instruction providers."""


class _Copied(Generic[T]):
    """A field that is copied when it is set and whenever it is read, so that it is never shared."""

    def __init__(self, copy: Callable[[T], T] = deepcopy) -> None:
        self._copy = copy

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: object | None, owner: type) -> T:
        if instance is None:
            raise AttributeError(self._name)  # so dataclass sees a field without a default
        return self._copy(vars(instance)[self._name])

    def __set__(self, instance: object, value: T) -> None:
        vars(instance)[self._name] = self._copy(value)


@dataclass(frozen=True, kw_only=True)
class A2AInbox:
    """A snapshot of the request, the same for every agent, tool and callback of the run.

    Every field read is a copy: changing it affects neither the server nor other readers.
    `origin` is "adk" when the agent runs under an adk command, where the inbox is built from
    the ADK session.
    """

    task: _Copied[Task] = _Copied()
    message: _Copied[Message] = _Copied()
    metadata: _Copied[dict[str, Any]] = _Copied()
    headers: _Copied[dict[str, str]] = _Copied(dict)
    user_id: str = ""
    authenticated: bool = False
    extensions: frozenset[str] = frozenset()
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


_CREDENTIAL_WORDS = (
    "access-key",
    "api-key",
    "apikey",
    "authorization",
    "client-cert",
    "cookie",
    "credential",
    "jwt",
    "password",
    "secret",
    "signature",
    "token",
    "x-auth",
)


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if not _is_credential(name)}


@lru_cache(maxsize=1024)
def _is_credential(header: str) -> bool:
    name = header.lower().replace("_", "-")
    return any(word in name for word in _CREDENTIAL_WORDS)
