"""The options of a served agent, each declared once with its default and once as a keyword."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Literal, TypedDict

from a2a.server.cluster import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import AgentCard, AgentExtension, SecurityScheme
from google.adk.agents.run_config import RunConfig
from google.adk.artifacts import BaseArtifactService
from google.adk.memory import BaseMemoryService
from google.adk.sessions import BaseSessionService

from aion_adk.auth import Authenticate
from aion_adk.identity import UserIdResolver
from aion_adk.stamp import ServerMetadata

SECONDS_TO_END_STREAMS = 10
"""Beyond the grace period: agents stop, last events are written."""

ExtendedCard = (
    AgentCard | Callable[[AgentCard, ServerCallContext], AgentCard | Awaitable[AgentCard]]
)
"""The extended card, or a function of the public card and the call that returns it."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """What `to_a2a` and `serve` can be told.

    card: served as it is, in place of the one built from the agent
    public_url: the address that clients use, for the card; without it the request's own address
    trust_proxy_headers: read that address from `X-Forwarded-Proto`, `-Host` and `-Prefix`; only
        for a server that nothing but a proxy can reach
    session_service, artifact_service, memory_service: for the runner, in-memory by default; a
        `Runner` brings its own
    database_url: keeps tasks, sessions and push configurations in SQLite or PostgreSQL (extras
        `sqlite`, `postgresql`), each unless a store of its own is given
    task_store: where tasks are kept, in memory by default
    push_notifications: post updates to the webhooks that clients register
    push_private_urls: accept webhooks on loopback and private addresses, for development
    max_request_bytes: the largest request that is read, on every binding
    heartbeat: seconds of silence after which an event stream gets a comment, 0 for none
    shutdown_grace: seconds that running tasks get to end when the server is told to stop
    authenticate: names the caller of a request by its headers, on every binding; calls that it
        returns None for are refused
    security_schemes: how callers authenticate, for the card; a bearer token by default
    user_id: names the ADK user of a request
    run_config: for every run; the streaming mode is chosen for each request
    run_timeout: seconds after which a run fails
    native_content: "buffer" makes ordinary agent content win over an outbox
    reply_as: "artifact" puts the reply into an artifact, for clients that read nothing else
    server_metadata: stamped on everything that leaves
    canonical_types: name the AG-UI event of each message in its metadata
    tool_activity: show every client tool calls, results, changes of state and token counts
    thoughts: show every client what the model says it thinks
    direct_messages: let an agent answer with a bare Message and no task; the task of a request
        is then shown only when there is something to say
    agui: serve AG-UI clients at `/agui` (extra `agui`)
    openai: serve OpenAI clients at `/v1`
    cors_origins: pages of these origins may call the server from a browser; "*" for any
    final_task: end a stream with the whole task in place of its last status
    grpc_port: serve gRPC too, on this port (extra `grpc`); 0 takes a free one
    grpc_host: the address that gRPC listens on
    list_grpc: name the gRPC address on the card; ADK's `RemoteA2aAgent` refuses such a card
    list_v0_3: name 0.3 interfaces on the card too, for clients of that version
    extensions: declared on the card; calls that do not activate the required ones are refused
    extended_card: for callers that may see more than the public card
    """

    card: AgentCard | None = None
    public_url: str | None = None
    trust_proxy_headers: bool = False
    session_service: BaseSessionService | None = None
    artifact_service: BaseArtifactService | None = None
    memory_service: BaseMemoryService | None = None
    database_url: str | None = None
    task_store: TaskStore | VersionedTaskStore | None = None
    push_notifications: bool = True
    push_private_urls: bool = False
    max_request_bytes: int = 32 * 1024 * 1024
    heartbeat: float = 15.0
    shutdown_grace: float = 10.0
    authenticate: Authenticate | None = None
    security_schemes: Mapping[str, SecurityScheme] | None = None
    user_id: UserIdResolver | None = None
    run_config: RunConfig | None = None
    run_timeout: float | None = None
    native_content: Literal["fallback", "buffer"] = "fallback"
    reply_as: Literal["message", "artifact"] = "message"
    server_metadata: ServerMetadata | None = None
    canonical_types: bool = True
    tool_activity: bool = False
    thoughts: bool = False
    direct_messages: bool = False
    agui: bool = False
    openai: bool = False
    cors_origins: Sequence[str] = ()
    final_task: bool = False
    grpc_port: int | None = None
    grpc_host: str = "127.0.0.1"
    list_grpc: bool = False
    list_v0_3: bool = False
    extensions: Sequence[AgentExtension] = ()
    extended_card: ExtendedCard | None = None

    @property
    def seconds_to_stop(self) -> int:
        """How long a web server must let its connections live when it is told to stop."""
        return ceil(self.shutdown_grace) + SECONDS_TO_END_STREAMS

    def over(self, others: "ServerOptions") -> "ServerOptions":
        """These options, and the `others` where these have their defaults."""
        said = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        return replace(others, **said)


class OptionKeywords(TypedDict, total=False):
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
    user_id: UserIdResolver | None
    run_config: RunConfig | None
    run_timeout: float | None
    native_content: Literal["fallback", "buffer"]
    reply_as: Literal["message", "artifact"]
    server_metadata: ServerMetadata | None
    canonical_types: bool
    tool_activity: bool
    thoughts: bool
    direct_messages: bool
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
