"""What an A2A stream costs an app, without a socket in between."""

import asyncio
import itertools
import json
import time

from starlette.types import ASGIApp, Message, Scope

_serial = itertools.count()


async def cpu_of(app: ASGIApp, *, chunks: int) -> float:
    """Seconds of CPU from the request for `chunks` chunks to the end of the stream."""
    over = asyncio.Event()
    message = {
        "messageId": f"m{next(_serial)}",
        "role": "ROLE_USER",
        "parts": [{"text": f"chunks {chunks} 0"}],
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
    body = {**call, "params": {"message": message}}
    asked: list[Message] = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> Message:
        if asked:
            return asked.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            over.set()

    begin = time.process_time()
    await app(_scope(), receive, send)
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
