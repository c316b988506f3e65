"""A webhook that notes what it gets."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from a2a.types import (
    SendMessageConfiguration,
    StreamResponse,
    TaskPushNotificationConfig,
    TaskState,
)
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.serving import listening

Answer = Callable[[int], int]


class Webhook:
    """Notes what is posted to it and answers the n-th post with a status of its choice."""

    def __init__(self, answer: Answer = lambda _: 200) -> None:
        self.posts: list[StreamResponse] = []
        self.headers: list[Any] = []
        self.changed = asyncio.Condition()
        self.open = asyncio.Event()
        self.open.set()
        self._answer = answer

    async def receive(self, request: Request) -> Response:
        body = await request.json()
        await self.open.wait()
        async with self.changed:
            self.posts.append(ParseDict(body, StreamResponse()))
            self.headers.append(request.headers)
            self.changed.notify_all()
        return Response(status_code=self._answer(len(self.posts)))

    async def got(self, count: int) -> list[str]:
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(lambda: len(self.posts) >= count)
        return [kind_of(post) for post in self.posts]


@asynccontextmanager
async def listening_webhook(webhook: Webhook) -> AsyncGenerator[str, None]:
    app = Starlette(routes=[Route("/hook", webhook.receive, methods=["POST"])])
    async with listening(lambda _: app) as url:
        yield f"{url}/hook"


def kind_of(post: StreamResponse) -> str:
    kind = post.WhichOneof("payload")
    status = post.task.status if kind == "task" else post.status_update.status
    return f"{kind} {TaskState.Name(status.state).removeprefix('TASK_STATE_')}"


def to(url: str, **fields: Any) -> SendMessageConfiguration:
    config = TaskPushNotificationConfig(url=url, **fields)
    return SendMessageConfiguration(task_push_notification_config=config)
