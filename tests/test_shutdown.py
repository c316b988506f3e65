import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.serving import HEADERS, free_port

# A thousand end within the 20 s allowed below as well, but take long to open.
STREAMS = 200

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def running(*command: str) -> AsyncGenerator[Process, None]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", *command, stdout=PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def connected(port: int) -> Connection:
    async with asyncio.timeout(40):
        while True:
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except ConnectionError:
                await asyncio.sleep(0.1)


async def opened_stream(port: int, number: int) -> Connection:
    """A stream of which the first text has been read."""
    message = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    call = {"jsonrpc": "2.0", "id": number, "method": "SendStreamingMessage"}
    body = json.dumps({**call, "params": {"message": message}})
    headers = {**HEADERS, "Host": "x", "Content-Length": len(body), "Content-Type": "a/json"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reader, writer = await connected(port)
    writer.write(f"POST / HTTP/1.1\r\n{head}\r\n{body}".encode())
    async with asyncio.timeout(40):
        await reader.readuntil(b'"hello"')
    return reader, writer


async def rest_of(connection: Connection) -> list[dict[str, Any]]:
    """The events up to the end of the stream."""
    reader, writer = connection
    async with asyncio.timeout(20):
        rest = (await reader.read()).decode()
    writer.close()
    lines = [line for line in rest.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: "))["result"] for line in lines]


@pytest.mark.timeout(120)
async def test_a_served_agent_ends_all_its_streams_when_told_to_stop() -> None:
    port = free_port()
    async with running("tests.stoppable", str(port)) as process:
        streams = [await opened_stream(port, 0)]
        for start in range(1, STREAMS, 50):
            numbers = range(start, min(start + 50, STREAMS))
            streams += await asyncio.gather(*(opened_stream(port, n) for n in numbers))
        process.send_signal(signal.SIGTERM)
        ends = await asyncio.gather(*map(rest_of, streams))
        async with asyncio.timeout(20):
            output, _ = await process.communicate()
    assert len(ends) == STREAMS
    for events in ends:
        assert events[-2]["artifactUpdate"]["lastChunk"]
        status = events[-1]["statusUpdate"]["status"]
        assert status["state"] == "TASK_STATE_FAILED"
        assert "shutting down" in status["message"]["parts"][0]["text"]
    assert output.decode().count("cleaned up") == STREAMS


async def test_an_app_that_uvicorn_runs_ends_its_streams_when_told_to_stop() -> None:
    port = free_port()
    command = ("uvicorn", "tests.stoppable:app", "--port", str(port), "--log-level", "error")
    async with running(*command) as process:
        stream = await opened_stream(port, 0)
        process.send_signal(signal.SIGTERM)
        events = await rest_of(stream)
        async with asyncio.timeout(20):
            output, _ = await process.communicate()
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_FAILED"
    assert "cleaned up" in output.decode()
