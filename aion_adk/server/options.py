"""The options of a served agent: each is declared once with its default, and once as a keyword."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil

from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import AgentCard, AgentExtension, SecurityScheme
from google.adk.artifacts import BaseArtifactService
from google.adk.memory import BaseMemoryService
from google.adk.sessions import BaseSessionService

from aion_adk.execution.options import RunKeywords, RunOptions
from aion_adk.option_values import ByteCount, Port, Seconds
from aion_adk.server.authentication import Authenticate
from aion_adk.tasks.task_run import TaskOptions
from aion_adk.timeouts import SECONDS_TO_END_STREAMS

ExtendedCard = (
    AgentCard | Callable[[AgentCard, ServerCallContext], AgentCard | Awaitable[AgentCard]]
)
"""The extended card, or a function of the public card and the call that returns it."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions(RunOptions, TaskOptions):
    """The options of `to_a2a` and `serve`."""

    card: AgentCard | None = None
    """Served as it is, in place of the card that is built from the agent."""

    public_url: str | None = None
    """The address that clients use, for the card; by default the one that each request came to."""

    trust_proxy_headers: bool = False
    """Reads the address from `X-Forwarded-Proto`, `-Host` and `-Prefix`. Only for a server that
    nothing but a proxy can reach."""

    session_service: BaseSessionService | None = None
    """For the runner, in memory by default. A `Runner` brings its own."""

    artifact_service: BaseArtifactService | None = None
    """For the runner, in memory by default. A `Runner` brings its own."""

    memory_service: BaseMemoryService | None = None
    """For the runner, in memory by default. A `Runner` brings its own."""

    database_url: str | None = None
    """Keeps tasks, sessions and push configurations in SQLite or PostgreSQL (extras `sqlite`,
    `postgresql`), except where `task_store` or `session_service` is given."""

    task_store: TaskStore | VersionedTaskStore | None = None
    """Where tasks are kept, in memory by default."""

    push_notifications: bool = True
    """Posts updates to the webhooks that clients register."""

    push_private_urls: bool = False
    """Accepts webhooks at loopback and private addresses, for development."""

    max_request_bytes: ByteCount = 32 * 1024 * 1024
    """The largest request that is read, on every binding."""

    heartbeat: Seconds = 15.0
    """Seconds without an event after which an event stream gets a comment; 0 for none."""

    authenticate: Authenticate | None = None
    """Returns the name of the caller, given the headers of a request, on every binding. A request
    for which it returns None is refused."""

    security_schemes: Mapping[str, SecurityScheme] | None = None
    """How callers authenticate, for the card; a bearer token by default."""

    agui: bool = False
    """Serves AG-UI clients at `/agui` (extra `agui`)."""

    openai: bool = False
    """Serves OpenAI clients at `/v1`."""

    cors_origins: Sequence[str] = ()
    """Web pages of these origins may call the server from a browser; "*" for any."""

    grpc_port: Port | None = None
    """Serves gRPC too, on this port (extra `grpc`); 0 takes a free one."""

    grpc_host: str = "127.0.0.1"
    """The address that gRPC listens on."""

    list_grpc: bool = False
    """Names the gRPC address on the card. ADK's `RemoteA2aAgent` refuses such a card."""

    list_v0_3: bool = False
    """Names A2A 0.3 interfaces on the card too, for clients of that version."""

    extensions: Sequence[AgentExtension] = ()
    """Declared on the card. Calls that do not activate the required ones are refused."""

    extended_card: ExtendedCard | None = None
    """For callers that may see more than the public card."""

    @property
    def seconds_to_stop(self) -> int:
        """How long a web server must let its connections live when it is told to stop."""
        return ceil(self.shutdown_grace + SECONDS_TO_END_STREAMS)

    def overriding(self, others: "ServerOptions") -> "ServerOptions":
        """These options, and the `others` where these have their defaults."""
        changed = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        return replace(others, **changed)


class OptionKeywords(RunKeywords, total=False):
    """`ServerOptions` as keywords, so that editors and type checkers know each of them."""

    card: AgentCard | None
    public_url: str | None
    trust_proxy_headers: bool
    session_service: BaseSessionService | None
    artifact_service: BaseArtifactService | None
    memory_service: BaseMemoryService | None
    database_url: str | None
    task_store: TaskStore | VersionedTaskStore | None
    push_notifications: bool
    push_private_urls: bool
    max_request_bytes: int
    heartbeat: float
    shutdown_grace: float
    authenticate: Authenticate | None
    security_schemes: Mapping[str, SecurityScheme] | None
    agui: bool
    openai: bool
    cors_origins: Sequence[str]
    final_task: bool
    grpc_port: int | None
    grpc_host: str
    list_grpc: bool
    list_v0_3: bool
    extensions: Sequence[AgentExtension]
    extended_card: ExtendedCard | None
