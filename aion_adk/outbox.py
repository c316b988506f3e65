"""An explicit A2A reply that an agent writes to `state_delta["a2a_outbox"]`."""

from typing import Annotated, Any, Self

from a2a.types import Message, Task
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, model_validator

from aion_adk.errors import OutboxError

OUTBOX_KEY = "a2a_outbox"


def _message_from(value: dict[str, Any] | Message | None) -> Message | None:
    return ParseDict(value, Message()) if isinstance(value, dict) else value


def _task_from(value: dict[str, Any] | Task | None) -> Task | None:
    return ParseDict(value, Task()) if isinstance(value, dict) else value


class A2AOutbox(BaseModel):
    """Exactly one of a message (the reply) or a task (a patch to the current task).

    `direct` asks for a bare Message with no task around it, where the server allows that.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)

    # Session services dump state to JSON and protobuf messages do not dump themselves.
    message: Annotated[
        Message | None,
        BeforeValidator(_message_from),
        PlainSerializer(lambda value: MessageToDict(value) if value else None),
    ] = None
    task: Annotated[
        Task | None,
        BeforeValidator(_task_from),
        PlainSerializer(lambda value: MessageToDict(value) if value else None),
    ] = None
    direct: bool = False

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.message is None) == (self.task is None):
            raise ValueError("expected exactly one of message and task")
        if self.direct and self.message is None:
            raise ValueError("direct goes with a message, not with a task")
        return self


def to_outbox(value: object) -> A2AOutbox:
    """Wraps a bare Message, Task or the dict of one; anything else is an OutboxError."""
    try:
        match value:
            case A2AOutbox():
                return value
            case Message():
                return A2AOutbox(message=value)
            case Task():
                return A2AOutbox(task=value)
            case dict():
                return _from_dict(value)  # pyright: ignore[reportUnknownArgumentType]  # any dict
            case _:
                pass
    except (ValueError, ParseError) as error:
        raise OutboxError(f"{OUTBOX_KEY} holds an invalid A2A reply: {error}") from error
    raise OutboxError(
        f"{OUTBOX_KEY} must be an A2AOutbox, a Message, a Task or the dict of one,"
        f" got {type(value).__name__}"
    )


def _from_dict(value: dict[str, Any]) -> A2AOutbox:
    if value.keys() & {"message", "task"}:
        return A2AOutbox.model_validate(value)
    if "parts" in value:
        return A2AOutbox(message=ParseDict(value, Message()))
    return A2AOutbox(task=ParseDict(value, Task()))
