"""How a stream of another protocol ends when its A2A events break off or its client leaves."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.server.events import Event

from aion_adk.front_ends.agui.encoder import AGUIEncoder
from aion_adk.front_ends.openai_chat.encoder import ChatEncoder
from aion_adk.front_ends.openai_responses.encoder import ResponsesEncoder
from aion_adk.front_ends.sse import EventStream, FrameEncoder
from tests.front_ends.streams import delta, started


async def breaking_events() -> AsyncGenerator[Event, None]:
    yield started()
    yield delta("Hel")
    raise RuntimeError("the password is hunter2")


async def stays() -> dict[str, Any]:
    """A client that does not leave."""
    await asyncio.Event().wait()
    return {}


async def sent_by(stream: EventStream) -> str:
    """The body of the whole stream."""
    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    await stream({"type": "http"}, stays, send)
    return b"".join(sent).decode()


@pytest.mark.parametrize(
    ("encoder", "end"),
    [
        (AGUIEncoder(thread_id="t", run_id="r"), "RUN_ERROR"),
        (ChatEncoder(completion_id="c", model="m", created=1), "server_error"),
        (ResponsesEncoder(response_id="resp_1", model="m", created=1), "response.failed"),
    ],
)
async def test_a_stream_that_breaks_ends_with_an_error_that_names_the_log_line(
    encoder: FrameEncoder, end: str, caplog: pytest.LogCaptureFixture
) -> None:
    closed_with: list[Event | None] = []
    stream = EventStream(breaking_events(), encoder, on_close=closed_with.append)
    body = await sent_by(stream)
    frames = [one for one in body.split("\n\n") if one and "[DONE]" not in one]
    assert end in frames[-1]
    assert "hunter2" not in body
    [record] = caplog.records
    error_id = record.getMessage().split("error id ")[1].split(":")[0]
    assert f"Error id: {error_id}" in frames[-1]
    assert closed_with == [delta("Hel")]


async def test_a_client_that_leaves_closes_the_events_and_the_last_one_is_known() -> None:
    sent, closed = asyncio.Event(), asyncio.Event()
    closed_with: list[Event | None] = []

    async def endless_events() -> AsyncGenerator[Event, None]:
        try:
            yield started()
            await asyncio.Event().wait()
        finally:
            closed.set()

    async def leaves() -> dict[str, Any]:
        await sent.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message.get("body"):
            sent.set()

    encoder = AGUIEncoder(thread_id="t", run_id="r")
    stream = EventStream(endless_events(), encoder, on_close=closed_with.append)
    async with asyncio.timeout(20):
        await stream({"type": "http"}, leaves, send)
    assert closed.is_set()
    assert closed_with == [started()]
