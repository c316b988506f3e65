"""An A2A client that costs next to nothing, so that the server is what is measured."""

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.agents import CHUNK

_MARK = CHUNK.strip().encode()
_HEADERS = (
    "Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\nA2A-Version: 1.0\r\n"
)
_serial = itertools.count()


@dataclass(frozen=True, slots=True)
class Answer:
    """When the answer began, when its first delta and its end came, and its body."""

    sent: float
    first_delta: float
    end: float
    body: bytes


class _Connection(asyncio.Protocol):
    """One keep-alive connection: a request out, the whole answer back."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received: list[bytes] = []
        self._first_delta = 0.0
        self._missing = -1
        self._done: asyncio.Future[None] | None = None
        self.started = asyncio.Event()
        self.stalls = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @property
    def open(self) -> bool:
        return self._transport is not None

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._done and not self._done.done():
            self._done.set_exception(exc or ConnectionError("the server closed the connection"))

    async def ask(self, request: bytes) -> Answer:
        assert self._transport
        self._received = []
        self._first_delta = 0.0
        self._missing = -1
        self._done = asyncio.get_running_loop().create_future()
        sent = time.perf_counter()
        self._transport.write(request)
        await self._done
        body = b"".join(self._received)
        return Answer(sent, self._first_delta or time.perf_counter(), time.perf_counter(), body)

    def data_received(self, data: bytes) -> None:
        first = not self._received
        self._received.append(data)
        if first:
            self._read_head(data)
            if self.stalls and self._transport:
                self._transport.pause_reading()
                self.started.set()
        elif self._missing >= 0:
            self._missing -= len(data)
        if not self._first_delta and _MARK in data:
            self._first_delta = time.perf_counter()
            self.started.set()
        chunked_end = self._missing < 0 and data.endswith(b"0\r\n\r\n")
        if self._done and not self._done.done() and (chunked_end or self._missing == 0):
            self._done.set_result(None)

    def go_on(self) -> None:
        """Reads again, after a stall."""
        if self._transport:
            self._transport.resume_reading()

    def _read_head(self, data: bytes) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise ConnectionError(head.decode())
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                self._missing = int(line[15:]) - len(body)

    def close(self) -> None:
        if self._transport:
            self._transport.abort()


class Client:
    """Calls one server over as many connections as there are calls at once."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[_Connection] = []
        self._held: list[tuple[_Connection, asyncio.Task[Answer]]] = []

    async def send(self, text: str, *, context_id: str = "") -> Answer:
        answer = await self._ask(_request("SendMessage", text, context_id))
        if b"TASK_STATE_COMPLETED" not in answer.body:
            raise RuntimeError(f"not completed: {answer.body[-500:]!r}")
        return answer

    async def stream(self, text: str, *, chunks: int) -> Answer:
        answer = await self._ask(_request("SendStreamingMessage", text, ""))
        if b"TASK_STATE_COMPLETED" not in answer.body or answer.body.count(_MARK) < chunks:
            raise RuntimeError(f"not whole: {answer.body[-500:]!r}")
        return answer

    async def stream_to(self, front: str, text: str, *, chunks: int) -> Answer:
        """Streams as a client of another protocol does; see `FRONTS`."""
        path, end, body = FRONTS[front]
        answer = await self._ask(_post(path, body(text)))
        if end not in answer.body or answer.body.count(_MARK) < chunks:
            raise RuntimeError(f"not whole: {answer.body[-500:]!r}")
        return answer

    async def hold(self, text: str) -> None:
        """Opens a stream and returns when its first delta is there."""
        connection = await self._connect()
        request = _request("SendStreamingMessage", text, "")
        self._held.append((connection, asyncio.ensure_future(connection.ask(request))))
        async with asyncio.timeout(30):
            await connection.started.wait()

    async def stall(self, text: str, *, context_id: str) -> Callable[[], Awaitable[Answer]]:
        """Opens a stream and reads no more than its beginning; the rest is what it returns."""
        connection = await self._connect()
        connection.stalls = True
        request = _request("SendStreamingMessage", text, context_id)
        asking = asyncio.ensure_future(connection.ask(request))
        self._held.append((connection, asking))
        async with asyncio.timeout(30):
            await connection.started.wait()

        async def rest() -> Answer:
            connection.go_on()
            return await asking

        return rest

    async def card(self) -> None:
        head = f"GET /.well-known/agent-card.json HTTP/1.1\r\n{_HEADERS}\r\n"
        await self._ask(head.encode())

    async def close(self) -> None:
        for connection in self._idle:
            connection.close()
        for connection, asking in self._held:
            connection.close()
            await asyncio.wait({asking})
            asking.exception()
        self._idle, self._held = [], []

    async def _ask(self, request: bytes) -> Answer:
        # A server closes connections that were idle for long.
        self._idle = [connection for connection in self._idle if connection.open]
        connection = self._idle.pop() if self._idle else await self._connect()
        answer = await connection.ask(request)
        self._idle.append(connection)
        return answer

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(_Connection, "127.0.0.1", self._port)
        return connection


def _request(method: str, text: str, context_id: str) -> bytes:
    message = {
        "messageId": f"m{next(_serial)}",
        "role": "ROLE_USER",
        "parts": [{"text": text}],
        **({"contextId": context_id} if context_id else {}),
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    return _post("/", call)


def _post(path: str, content: dict[str, Any]) -> bytes:
    body = json.dumps(content).encode()
    head = f"POST {path} HTTP/1.1\r\n{_HEADERS}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _agui(text: str) -> dict[str, Any]:
    number = next(_serial)
    message = {"id": f"m{number}", "role": "user", "content": text}
    rest: dict[str, Any] = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    return {"threadId": f"t{number}", "runId": f"r{number}", "messages": [message], **rest}


def _chat(text: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"model": "trivial", "stream": True, "messages": [message]}


def _responses(text: str) -> dict[str, Any]:
    return {"model": "trivial", "stream": True, "input": text}


FRONTS: dict[str, tuple[str, bytes, Callable[[str], dict[str, Any]]]] = {
    "agui": ("/agui", b"RUN_FINISHED", _agui),
    "chat": ("/v1/chat/completions", b"[DONE]", _chat),
    "responses": ("/v1/responses", b"response.completed", _responses),
}
"""Other protocols by name: the path, what ends a stream, and the body of a request."""
