"""Drives a server with a2a-sdk 0.3's client and prints what came back, step by step, as JSON.

Runs in an environment of its own, where `a2a` is that version.
"""

import asyncio
import base64
import json
import sys
import traceback
import uuid

import grpc.aio
import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import (
    FilePart,
    FileWithBytes,
    FileWithUri,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
    TransportProtocol,
)

FILES = [
    TextPart(text="files"),
    FilePart(
        file=FileWithBytes(
            bytes=base64.b64encode(b"bytes in").decode(), name="in.bin", mime_type="image/gif"
        )
    ),
    FilePart(file=FileWithUri(uri="https://files.example/in.pdf", mime_type="application/pdf")),
]


def message(*parts, **fields):
    wrapped = [Part(root=TextPart(text=p) if isinstance(p, str) else p) for p in parts]
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=wrapped, **fields)


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Steps:
    def __init__(self, streaming, blocking):
        self.streaming, self.blocking = streaming, blocking

    async def send(self, *parts, **fields):
        async for answer in self.blocking.send_message(message(*parts, **fields)):
            last = answer
        return last[0] if isinstance(last, tuple) else last

    async def card(self):
        return plain(await self.blocking.get_card())

    async def sent(self):
        task = await self.send("hello")
        again = await self.blocking.get_task(TaskQueryParams(id=task.id))
        return {"sent": plain(task), "again": plain(again)}

    async def files(self):
        return plain(await self.send(*FILES))

    async def streamed(self):
        frames = []
        async for answer in self.streaming.send_message(message("count")):
            task, update = answer
            frames.append(plain(update or task))
        return frames

    async def canceled(self):
        started = self.streaming.send_message(message("wait"))
        task, _ = await anext(started)
        followed = self.streaming.resubscribe(TaskIdParams(id=task.id))
        joined, _ = await anext(followed)
        canceled = await self.streaming.cancel_task(TaskIdParams(id=task.id))
        rest = [plain(update or task) async for task, update in started]
        return {"joined": plain(joined), "canceled": plain(canceled), "rest": rest}

    async def paused(self):
        paused = await self.send("ask")
        resumed = await self.send("blue", task_id=paused.id, context_id=paused.context_id)
        return {"paused": plain(paused), "resumed": plain(resumed)}

    async def pushed(self):
        paused = await self.send("ask")
        config = TaskPushNotificationConfig(
            task_id=paused.id,
            push_notification_config=PushNotificationConfig(
                id="hook-1", url="http://127.0.0.1:9/hook", token="secret-1"
            ),
        )
        return plain(await self.blocking.set_task_callback(config))


async def client_for(url, http, transport, *, streaming):
    config = ClientConfig(
        httpx_client=http,
        grpc_channel_factory=grpc.aio.insecure_channel,
        supported_transports=[transport],
        streaming=streaming,
    )
    return await ClientFactory.connect(url, client_config=config)


async def main(url, transport):
    async with httpx.AsyncClient(timeout=20) as http:
        streaming = await client_for(url, http, TransportProtocol(transport), streaming=True)
        blocking = await client_for(url, http, TransportProtocol(transport), streaming=False)
        steps = Steps(streaming, blocking)
        outcome = {}
        for name in ("card", "sent", "files", "streamed", "canceled", "paused", "pushed"):
            try:
                outcome[name] = await asyncio.wait_for(getattr(steps, name)(), 20)
            except Exception:
                outcome[name] = {"failed": traceback.format_exc()}
        sys.stdout.write(json.dumps(outcome))


asyncio.run(main(*sys.argv[1:]))
