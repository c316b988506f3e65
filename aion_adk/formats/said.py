"""What a turn consists of, told in terms that every front end can spell."""

from dataclasses import dataclass, field
from typing import Any

from a2a.types import Part, TaskState

from aion_adk.formats.tools import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Started:
    task_id: str
    context_id: str


@dataclass(frozen=True, slots=True)
class StepStarted:
    name: str


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """A text message, or a thought, begins."""

    id: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class SpeechDelta:
    id: str
    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    id: str
    text: str
    thought: bool = False
    signature: str = ""


@dataclass(frozen=True, slots=True)
class CallStarted:
    id: str
    name: str
    parent_id: str
    pending: bool


@dataclass(frozen=True, slots=True)
class CallArguments:
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    call: ToolCall
    pending: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a tool call."""

    message_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Shown:
    """An artifact, or what a message holds beside text and tools."""

    id: str
    name: str
    parts: list[Part]
    append: bool = False


@dataclass(frozen=True, slots=True)
class StateChanged:
    delta: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Corrected:
    """The reply is another text than the one that streamed; only `id` is part of the record."""

    id: str
    unsaid: list[str]


@dataclass(frozen=True, slots=True)
class Finished:
    """The turn is over; `cut` if the model had to stop before it was done."""

    usage: dict[str, int] = field(default_factory=dict[str, int])
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Paused:
    """The turn is over and the task waits: for the results of `calls`, or for another message."""

    state: TaskState
    text: str
    calls: list[ToolCall]
    usage: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Failed:
    text: str
    code: str
    usage: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Canceled:
    pass


Said = (
    Started
    | StepStarted
    | SpeechStarted
    | SpeechDelta
    | SpeechEnded
    | CallStarted
    | CallArguments
    | CallEnded
    | Answered
    | Shown
    | StateChanged
    | Corrected
    | Finished
    | Paused
    | Failed
    | Canceled
)
