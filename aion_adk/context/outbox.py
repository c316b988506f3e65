"""An explicit A2A reply that an agent writes to `state_delta["a2a_outbox"]`."""

from typing import Annotated, Any, Self

from a2a.types import Message, Task
from pydantic import BaseModel, ConfigDict, model_validator

from aion_adk.errors import OutboxError
from aion_adk.protocol.structs import ProtoJson

OUTBOX_KEY = "a2a_outbox"


class A2AOutbox(BaseModel):
    """Exactly one of a message (the reply) or a task (a patch to the current task).

    `direct` asks for a bare Message with no task around it, where the server allows that.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Session services dump state to JSON, which protobuf messages do not do themselves.
    message: Annotated[Message, ProtoJson()] | None = None
    task: Annotated[Task, ProtoJson()] | None = None
    direct: bool = False

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.message is None) == (self.task is None):
            raise ValueError("expected exactly one of message and task")
        if self.direct and self.message is None:
            raise ValueError("direct goes with a message, not with a task")
        return self


def to_outbox(value: Any) -> A2AOutbox:
    """Wraps a bare Message, Task or the dict of one; anything else is an OutboxError."""
    try:
        match value:
            case A2AOutbox():
                return value
            case {"message": _} | {"task": _}:
                return A2AOutbox.model_validate(value)
            case Message() | {"parts": _}:
                return A2AOutbox.model_validate({"message": value})
            case Task() | dict():
                return A2AOutbox.model_validate({"task": value})
            case _:
                pass
    except ValueError as error:
        raise OutboxError(f"{OUTBOX_KEY} holds an invalid A2A reply: {error}") from error
    raise OutboxError(
        f"{OUTBOX_KEY} must be an A2AOutbox, a Message, a Task or the dict of one,"
        f" got {type(value).__name__}"
    )
