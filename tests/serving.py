"""A server on a real socket and a real client, for tests of what a user does."""

import asyncio
import json
import socket
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from a2a.client import Client, ClientConfig, create_client
from a2a.types import (
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.types import ASGIApp

from aion_adk import to_a2a
from aion_adk.card import Servable
from aion_adk.protocol.stamp import new_id

HEADERS = {"A2A-Version": "1.0"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def listening(build: Callable[[str], ASGIApp]) -> AsyncGenerator[str, None]:
    """Runs the app that `build` makes for its own URL; yields the URL."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(build(url), log_level="warning", timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(10):
                while not server.started:  # noqa: ASYNC110 # uvicorn offers no event for it
                    await asyncio.sleep(0.005)
            yield url
        finally:
            server.should_exit = True
            await asyncio.wait_for(running, 20)


@asynccontextmanager
async def serving(agent: Servable, **options: Any) -> AsyncGenerator[str, None]:
    async with listening(lambda url: to_a2a(agent, public_url=url, **options)) as url:
        yield url


@asynccontextmanager
async def client_of(
    url: str, *, streaming: bool = False, headers: dict[str, str] | None = None
) -> AsyncGenerator[Client, None]:
    # No TLS here, and loading the certificates takes longer than most tests.
    async with httpx.AsyncClient(timeout=120, headers=headers, verify=False) as http:
        config = ClientConfig(httpx_client=http, streaming=streaming)
        client = await create_client(url, client_config=config)
        try:
            yield client
        finally:
            await client.close()


def request_of(
    content: str | Sequence[Part],
    *,
    message_id: str = "",
    context_id: str = "",
    task_id: str = "",
    metadata: dict[str, Any] | None = None,
    configuration: SendMessageConfiguration | None = None,
) -> SendMessageRequest:
    parts = [Part(text=content)] if isinstance(content, str) else content
    message = Message(
        message_id=message_id or new_id(),
        role=Role.ROLE_USER,
        parts=parts,
        context_id=context_id,
        task_id=task_id,
    )
    request = SendMessageRequest(message=message, configuration=configuration)
    if metadata:
        request.metadata.update(metadata)
    return request


async def send(url: str, content: str | Sequence[Part], **fields: Any) -> Task:
    """Sends one message without streaming and returns the task it is answered with."""
    async with client_of(url) as client:
        frames = [frame async for frame in client.send_message(request_of(content, **fields))]
    return frames[-1].task


async def stream(url: str, content: str | Sequence[Part], **fields: Any) -> list[StreamResponse]:
    """Sends one message and returns every frame of the stream."""
    async with client_of(url, streaming=True) as client:
        return [frame async for frame in client.send_message(request_of(content, **fields))]


async def tasks_of(url: str) -> list[Task]:
    async with client_of(url) as client:
        return list((await client.list_tasks(ListTasksRequest())).tasks)


async def stored(url: str, task_id: str, *, history_length: int | None = None) -> Task:
    async with client_of(url) as client:
        return await client.get_task(GetTaskRequest(id=task_id, history_length=history_length))


def status_texts(frames: Sequence[StreamResponse]) -> list[tuple[str, str]]:
    """The state and the text of every status that carries a message, in order."""
    return [
        (TaskState.Name(status.state).removeprefix("TASK_STATE_"), text_of(status.message))
        for status in statuses_of(frames)
        if status.HasField("message")
    ]


def statuses_of(frames: Sequence[StreamResponse]) -> list[TaskStatus]:
    return [frame.status_update.status for frame in frames if frame.HasField("status_update")]


def history_of(task: Task) -> list[str]:
    return [text_of(message) for message in task.history]


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts)


def reply_of(task: Task) -> str:
    return text_of(task.status.message)


def deltas_of(frames: Sequence[StreamResponse]) -> list[str]:
    """The text chunks of the streamed sections, in order."""
    return [
        part.text
        for frame in frames
        if frame.HasField("artifact_update")
        and frame.artifact_update.artifact.artifact_id.startswith("aion:stream-delta")
        for part in frame.artifact_update.artifact.parts
    ]


def sections_of(frames: Sequence[StreamResponse]) -> list[str]:
    """The text of each streamed section, in the order in which they ended."""
    texts: defaultdict[str, str] = defaultdict(str)
    ended: list[str] = []
    for frame in frames:
        if frame.HasField("artifact_update"):
            update = frame.artifact_update
            key = update.artifact.artifact_id
            texts[key] += "".join(part.text for part in update.artifact.parts)
            if update.last_chunk:
                ended.append(texts.pop(key))
    assert not texts
    return ended


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def raw_stream(url: str, text: str, *, limit: int = 2**16) -> Connection:
    """Asks for a stream on a bare socket; nothing is read from it, not even its head."""
    message = {"messageId": new_id(), "role": "ROLE_USER", "parts": [{"text": text}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
    body = json.dumps({**call, "params": {"message": message}})
    headers = {**HEADERS, "Host": "x", "Connection": "close", "Content-Length": len(body)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=limit)
    writer.write(f"POST / HTTP/1.1\r\n{head}\r\n{body}".encode())
    return reader, writer


async def rest_of(connection: Connection) -> list[dict[str, Any]]:
    """The JSON-RPC answers on a raw stream, up to its end."""
    reader, writer = connection
    async with asyncio.timeout(20):
        rest = (await reader.read()).decode()
    writer.close()
    lines = [line for line in rest.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]
