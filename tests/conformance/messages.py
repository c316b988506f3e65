"""Requests that the conformance agent understands, as JSON."""

from typing import Any

from aion_adk.protocol.stamp import new_id
from tests.conformance.wires import Json, Wire, call


def message(prefix: str, **fields: Any) -> Json:
    """A message whose id begins with `prefix`, which decides what the agent does."""
    return {
        "messageId": f"{prefix}-{new_id()}",
        "role": "ROLE_USER",
        "parts": [{"text": "Hello"}],
        **fields,
    }


def request(prefix: str, *, configuration: Json | None = None, **fields: Any) -> Json:
    body: Json = {"message": message(prefix, **fields)}
    if configuration is not None:
        body["configuration"] = configuration
    return body


async def send(wire: Wire, prefix: str, **fields: Any) -> Json:
    """The task that a message is answered with."""
    return (await call(wire, "SendMessage", request(prefix, **fields)))["task"]


async def stream(wire: Wire, prefix: str, **fields: Any) -> list[Json]:
    frames = wire.frames("SendStreamingMessage", request(prefix, **fields))
    return [frame async for frame in frames]


def kinds(frames: list[Json]) -> list[str]:
    return [next(iter(frame)) for frame in frames]


def state(task: Json) -> str:
    return task["status"]["state"].removeprefix("TASK_STATE_")
