"""The events of one turn; each front end writes them in its own protocol."""

from dataclasses import dataclass, field
from typing import Any

from a2a.types import Part, TaskState

from aion_adk.formats.tools import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class RunStarted:
    pass


@dataclass(frozen=True, slots=True)
class StepStarted:
    name: str


@dataclass(frozen=True, slots=True)
class TextStarted:
    """A text message or a thought starts."""

    id: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class TextContent:
    id: str
    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class TextEnded:
    id: str
    text: str
    thought: bool = False
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    id: str
    name: str
    parent_id: str
    pending: bool


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ToolCallEnded:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    message_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ArtifactUpdated:
    """An artifact, or the parts of a message that are neither text nor tool calls."""

    id: str
    name: str
    parts: list[Part]
    append: bool = False


@dataclass(frozen=True, slots=True)
class StateChanged:
    delta: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TextReplaced:
    """The reply differs from the text that streamed: the messages `ids` are not part of it."""

    ids: list[str]


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The turn is over; `truncated` if the model ran out of tokens."""

    usage: dict[str, int] = field(default_factory=dict[str, int])
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class RunPaused:
    """The turn is over; the task waits for the results of `calls`, or for another message."""

    state: TaskState
    text: str
    calls: list[ToolCall]
    usage: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class RunFailed:
    text: str
    code: str
    usage: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class RunCanceled:
    """The text and the code are for protocols that can only report it as a failure."""

    text: str = "The run was canceled."
    code: str = "canceled"


ToolCallEvent = ToolCallStarted | ToolCallArguments | ToolCallEnded | ToolCallResult
RunEnd = RunFinished | RunPaused | RunFailed | RunCanceled
TurnEvent = (
    RunStarted
    | StepStarted
    | TextStarted
    | TextContent
    | TextEnded
    | ToolCallEvent
    | ArtifactUpdated
    | StateChanged
    | TextReplaced
    | RunEnd
)
