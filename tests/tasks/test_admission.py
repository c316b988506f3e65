from math import inf, nan
from typing import Any

import pytest
from a2a.types import (
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
)
from a2a.utils.errors import InvalidParamsError
from google.api.field_behavior_pb2 import FieldBehavior, field_behavior
from google.protobuf.struct_pb2 import Value

from aion_adk.protocol.structs import to_value
from aion_adk.storage.memory import MemoryTaskStore
from aion_adk.tasks.handler import require_admissible
from tests.acts import echo
from tests.handling import call, handler_of
from tests.serving import request_of

BEHAVIOR: Any = field_behavior  # its type does not say that it is an extension


def nested(depth: int) -> Value:
    plain: Any = 1
    for _ in range(depth):
        plain = {"deeper": plain}
    return to_value(plain)


@pytest.mark.parametrize("data", [{"number_value": nan}, {"number_value": inf}, nested(31)])
async def test_a_message_that_json_cannot_hold_is_refused_and_spoils_no_list(data: Any) -> None:
    """A5: what one caller sends can be written for the others."""
    store = MemoryTaskStore()
    handler = handler_of(echo, task_store=store)
    with pytest.raises(InvalidParamsError):
        await handler.on_message_send(request_of([Part(data=data)]), call())
    await handler.on_message_send(request_of([Part(data=nested(25))]), call())
    page = await store.list(ListTasksRequest(), call())
    assert len(page.tasks) == 1


def test_what_a_message_must_have_is_what_a2a_requires() -> None:
    """A1"""
    found = {
        f"{kind.DESCRIPTOR.name}.{field.name}"
        for kind in (SendMessageRequest, SendMessageConfiguration, Message, Part)
        for field in kind.DESCRIPTOR.fields
        if FieldBehavior.REQUIRED in field.GetOptions().Extensions[BEHAVIOR]
    }
    assert found == {
        "SendMessageRequest.message",
        "Message.message_id",
        "Message.role",
        "Message.parts",
    }


@pytest.mark.parametrize("missing", ["message_id", "role", "parts"])
def test_a_message_without_what_it_must_have_is_refused(missing: str) -> None:
    """A1"""
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="x")])
    require_admissible(SendMessageRequest(message=message))
    message.ClearField(missing)
    with pytest.raises(InvalidParamsError):
        require_admissible(SendMessageRequest(message=message))
