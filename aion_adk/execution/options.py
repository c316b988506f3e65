"""How an agent is run and what of it leaves: the options of the executor."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypedDict

from google.adk.agents.run_config import RunConfig, ToolThreadPoolConfig
from google.adk.telemetry.context import TelemetryConfig

from aion_adk.execution.adk_session import UserIdResolver
from aion_adk.option_values import PositiveSeconds, check_values
from aion_adk.protocol.stamp import ServerMetadata, StampOptions


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `ADKAgentExecutor`; `ServerOptions` has the same ones and more."""

    user_id: UserIdResolver | None = None
    """Names the ADK user of a request."""

    run_config: RunConfig | None = None
    """For every run; the streaming mode is chosen for each request."""

    run_timeout: PositiveSeconds | None = None
    """Seconds after which a run fails."""

    native_content: Literal["fallback", "buffer"] = "fallback"
    """"buffer" makes ordinary agent content win over an outbox."""

    reply_as: Literal["message", "artifact"] = "message"
    """"artifact" puts the reply into an artifact, for clients that read nothing else."""

    server_metadata: ServerMetadata | None = None
    """Stamped on tasks and on the agent's messages."""

    canonical_types: bool = True
    """Names the AG-UI event of each message in its metadata."""

    tool_activity: bool = False
    """Shows every client tool calls, results, changes of state and token counts."""

    thoughts: bool = False
    """Shows every client what the model says it thinks."""

    direct_messages: bool = False
    """Lets an agent answer with a bare Message and no task; the task of a request is then shown
    only when there is something to say."""

    def __post_init__(self) -> None:
        check_values(self)
        _ = self.stamps  # refuses server_metadata that is no JSON

    @cached_property
    def every_run_config(self) -> RunConfig:
        """`run_config`, or one with which sync tools run in threads."""
        config = self.run_config or RunConfig(tool_thread_pool_config=ToolThreadPoolConfig())
        # Without one, ADK makes one from the environment at every step of a run.
        telemetry = config.telemetry or TelemetryConfig()
        return config.model_copy(update={"telemetry": telemetry})

    @cached_property
    def stamps(self) -> StampOptions:
        return StampOptions(self.server_metadata, canonical_types=self.canonical_types)


class RunKeywords(TypedDict, total=False):
    """`RunOptions` as keywords, so that editors and type checkers know each of them."""

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
