import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from tests.serving import Connection, free_port, raw_stream, rest_of

# A thousand end within the 20 s allowed below as well, but take long to open.
STREAMS = 100


@asynccontextmanager
async def running(*command: str) -> AsyncGenerator[Process, None]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", *command, stdout=PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def opened_stream(url: str) -> Connection:
    """A stream of which the first text has been read, as soon as there is a server."""
    async with asyncio.timeout(90):
        while True:
            try:
                reader, writer = await raw_stream(url, "hi")
                break
            except ConnectionError:
                await asyncio.sleep(0.1)
        await reader.readuntil(b'"hello"')
    return reader, writer


@pytest.mark.timeout(180)
async def test_a_served_agent_ends_all_its_streams_at_a_sigterm() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    async with running("tests.server.stoppable", str(port)) as process:
        streams = [await opened_stream(url)]
        while len(streams) < STREAMS:
            more = min(50, STREAMS - len(streams))
            streams += await asyncio.gather(*(opened_stream(url) for _ in range(more)))
        process.send_signal(signal.SIGTERM)
        ends = await asyncio.gather(*map(rest_of, streams))
        async with asyncio.timeout(20):
            output, _ = await process.communicate()
    assert len(ends) == STREAMS
    for events in ends:
        assert events[-2]["result"]["artifactUpdate"]["lastChunk"]
        status = events[-1]["result"]["statusUpdate"]["status"]
        assert status["state"] == "TASK_STATE_FAILED"
        assert "shutting down" in status["message"]["parts"][0]["text"]
    assert output.decode().count("cleaned up") == STREAMS


@pytest.mark.timeout(180)
async def test_an_app_that_uvicorn_runs_ends_its_streams_at_a_sigterm() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = ("uvicorn", "tests.server.stoppable:app", "--port", str(port), "--log-level", "error")
    async with running(*command) as process:
        stream = await opened_stream(url)
        process.send_signal(signal.SIGTERM)
        events = await rest_of(stream)
        async with asyncio.timeout(20):
            output, _ = await process.communicate()
    assert events[-1]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_FAILED"
    assert "cleaned up" in output.decode()
