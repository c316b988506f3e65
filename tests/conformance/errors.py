"""Section 5.4: how each binding carries each error."""

from dataclasses import dataclass

from tests.conformance.wires import Refusal, Wire


@dataclass(frozen=True)
class Error:
    jsonrpc: int
    rest: int
    grpc: str
    reason: str


TASK_NOT_FOUND = Error(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND")
TASK_NOT_CANCELABLE = Error(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE")
PUSH_NOT_SUPPORTED = Error(-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED")
UNSUPPORTED_OPERATION = Error(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION")
NO_EXTENDED_CARD = Error(-32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
EXTENSION_REQUIRED = Error(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")
VERSION_NOT_SUPPORTED = Error(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED")
INVALID_PARAMS = Error(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS")
INTERNAL = Error(-32603, 500, "INTERNAL", "INTERNAL_ERROR")


def assert_refusal(refusal: Refusal, error: Error, wire: Wire) -> None:
    """Asserts that `refusal` is `error` as `wire` carries it, with a text for a person."""
    assert (refusal.code, refusal.reason) == (getattr(error, wire.name), error.reason)
    assert refusal.message
