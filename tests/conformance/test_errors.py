"""Which error each misuse gets, on every binding; the id of a case names the section."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.conformance.errors import (
    INVALID_PARAMS,
    TASK_NOT_CANCELABLE,
    TASK_NOT_FOUND,
    UNSUPPORTED_OPERATION,
    VERSION_NOT_SUPPORTED,
    Error,
    assert_refusal,
)
from tests.conformance.messages import message, request, send
from tests.conformance.wires import V1, Json, Wire, refusal_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOBODY = "no-such-task"


def case(name: str, operation: str, params: Json, error: Error) -> Any:
    return pytest.param(operation, params, error, id=name)


UNKNOWN_TASK = [
    case("3.1.1-send", "SendMessage", request("tck-x", taskId=NOBODY), TASK_NOT_FOUND),
    case("3.1.2-stream", "SendStreamingMessage", request("tck-x", taskId=NOBODY), TASK_NOT_FOUND),
    case("3.1.3-get", "GetTask", {"id": NOBODY}, TASK_NOT_FOUND),
    case("3.1.5-cancel", "CancelTask", {"id": NOBODY}, TASK_NOT_FOUND),
    case("3.1.6-subscribe", "SubscribeToTask", {"id": NOBODY}, TASK_NOT_FOUND),
]
INVALID = [
    case("3.3.2-no-parts", "SendMessage", request("tck-x", parts=[]), INVALID_PARAMS),
    case("3.3.2-empty-part", "SendMessage", request("tck-x", parts=[{}]), INVALID_PARAMS),
    case("3.3.2-no-message-id", "SendMessage", request("tck-x", messageId=""), INVALID_PARAMS),
    case(
        "3.3.2-no-role",
        "SendMessage",
        request("tck-x", role="ROLE_UNSPECIFIED"),
        INVALID_PARAMS,
    ),
    case("3.3.2-no-message", "SendMessage", {}, INVALID_PARAMS),
    case(
        "3.3.2-stream-no-parts", "SendStreamingMessage", request("tck-x", parts=[]), INVALID_PARAMS
    ),
    case(
        "3.2.4-negative-history",
        "SendMessage",
        request("tck-x", configuration={"historyLength": -1}),
        INVALID_PARAMS,
    ),
    case("3.1.4-page-size-negative", "ListTasks", {"pageSize": -1}, INVALID_PARAMS),
    case("3.1.4-page-size-zero", "ListTasks", {"pageSize": 0}, INVALID_PARAMS),
    case("3.1.4-page-size-large", "ListTasks", {"pageSize": 101}, INVALID_PARAMS),
    case("3.1.4-page-token", "ListTasks", {"pageToken": "not-a-cursor"}, INVALID_PARAMS),
    case("3.1.4-negative-history", "ListTasks", {"historyLength": -1}, INVALID_PARAMS),
]


@pytest.mark.parametrize(("operation", "params", "error"), [*UNKNOWN_TASK, *INVALID])
async def test_a_wrong_call_gets_the_error_that_the_specification_names(
    wire: Wire, operation: str, params: Json, error: Error
) -> None:
    assert_refusal(await refusal_of(wire, operation, params), error, wire)


async def test_a_finished_task_cannot_be_canceled(wire: Wire) -> None:
    """3.1.5, F3"""
    task = await send(wire, "tck-complete-task")
    assert_refusal(
        await refusal_of(wire, "CancelTask", {"id": task["id"]}), TASK_NOT_CANCELABLE, wire
    )


async def test_a_finished_task_cannot_be_subscribed_to(wire: Wire) -> None:
    """3.1.6"""
    task = await send(wire, "tck-complete-task")
    refusal = await refusal_of(wire, "SubscribeToTask", {"id": task["id"]})
    assert_refusal(refusal, UNSUPPORTED_OPERATION, wire)


@pytest.mark.parametrize("operation", ["SendMessage", "SendStreamingMessage"])
async def test_a_finished_task_takes_no_message(wire: Wire, operation: str) -> None:
    """3.1.1, 3.1.2"""
    task = await send(wire, "tck-complete-task")
    late = {"message": message("tck-complete-task", taskId=task["id"])}
    assert_refusal(await refusal_of(wire, operation, late), UNSUPPORTED_OPERATION, wire)


async def test_a_message_whose_context_is_not_its_tasks_is_refused(wire: Wire) -> None:
    """3.4.2"""
    task = await send(wire, "tck-input-required")
    stray = {"message": message("tck-complete-task", taskId=task["id"], contextId="another")}
    assert_refusal(await refusal_of(wire, "SendMessage", stray), INVALID_PARAMS, wire)


@pytest.mark.parametrize("version", ["2.0", "0.2", "99.9"])
async def test_a_version_that_is_not_served_is_refused(wire: Wire, version: str) -> None:
    """3.6.2"""
    refusal = await refusal_of(wire, "GetTask", {"id": NOBODY}, headers={"A2A-Version": version})
    assert_refusal(refusal, VERSION_NOT_SUPPORTED, wire)


@pytest.mark.parametrize("headers", [V1, {"A2A-Version": "1.1"}, {"a2a-version": "1.0.1"}])
async def test_every_minor_and_patch_of_version_1_is_served(
    wire: Wire, headers: Mapping[str, str]
) -> None:
    """3.6, 3.6.2"""
    refusal = await refusal_of(wire, "GetTask", {"id": NOBODY}, headers=headers)
    assert_refusal(refusal, TASK_NOT_FOUND, wire)


@pytest.mark.parametrize("name", ["jsonrpc", "rest"])
async def test_a_call_over_http_without_a_version_is_one_of_0_3(server: Any, name: str) -> None:
    """3.6.2: an empty version means 0.3, which has no such method."""
    wire = server.wires[name]
    refusal = await refusal_of(wire, "GetTask", {"id": NOBODY}, headers={})
    assert_refusal(refusal, VERSION_NOT_SUPPORTED, wire)
