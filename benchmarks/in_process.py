"""A2A calls to an app without a socket in between, and what they cost."""

import asyncio
import itertools
import json
import time

from starlette.types import ASGIApp, Message, Scope

_serial = itertools.count()


async def answer_of(app: ASGIApp, method: str, text: str) -> bytes:
    """The whole body that answers a message with this text."""
    over = asyncio.Event()
    message = {
        "messageId": f"m{next(_serial)}",
        "role": "ROLE_USER",
        "parts": [{"text": text}],
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    requests: list[Message] = [{"type": "http.request", "body": json.dumps(call).encode()}]
    body: list[bytes] = []

    async def receive() -> Message:
        if requests:
            return requests.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            body.append(message.get("body", b""))
            if not message.get("more_body"):
                over.set()

    await app(_scope(), receive, send)
    return b"".join(body)


async def cpu_of(app: ASGIApp, *, chunks: int) -> float:
    """Seconds of CPU from the request for `chunks` chunks to the end of the stream."""
    begin = time.process_time()
    await answer_of(app, "SendStreamingMessage", f"chunks {chunks} 0")
    return time.process_time() - begin


def _scope() -> Scope:
    headers = {"content-type": "application/json", "a2a-version": "1.0"}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
