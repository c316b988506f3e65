import socket
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from a2a.types import CancelTaskRequest, TaskPushNotificationConfig
from a2a.utils.errors import (
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotFoundError,
)
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk import to_a2a
from aion_adk.context.emit import emit_message
from aion_adk.storage.memory import MemoryPushConfigs, MemoryTaskStore
from aion_adk.tasks.handler import BridgeRequestHandler
from aion_adk.tasks.push import PublicAddresses, PushDelivery, RetryingTransport
from tests.acts import asks_back
from tests.agents import text_event
from tests.handling import Acting, ask, call, cancel, handler_of, state_of
from tests.serving import send, serving
from tests.webhooks import Webhook, listening_webhook, to

PUBLIC = "93.184.215.14"


async def talks(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    emit_message(ctx, "on my way")
    yield text_event(agent, ctx, "partial", partial=True)
    yield text_event(agent, ctx, "done")


def impatient(**options: Any) -> PushDelivery:
    transport = RetryingTransport(first_pause=0.01, timeout=0.5)
    return PushDelivery(MemoryPushConfigs(), private_urls=True, transport=transport, **options)


async def test_a_webhook_named_with_the_message_gets_every_durable_update_in_order() -> None:
    webhook = Webhook()
    agent = Acting(name="talking", act=talks)
    async with (
        listening_webhook(webhook) as hook,
        serving(agent, push_private_urls=True) as url,
    ):
        task = await send(url, "go", configuration=to(hook, token="t0k"))
        kinds = await webhook.got(3)
    assert kinds == ["task WORKING", "status_update WORKING", "status_update COMPLETED"]
    assert webhook.posts[0].task.id == task.id
    assert {headers["x-a2a-notification-token"] for headers in webhook.headers} == {"t0k"}


async def test_a_webhook_that_fails_is_tried_again_and_keeps_its_order() -> None:
    webhook = Webhook(lambda count: 503 if count <= 2 else 200)
    push = impatient()
    handler = handler_of(talks, push=push)
    async with listening_webhook(webhook) as hook:
        await ask(handler, "go", configuration=to(hook))
        kinds = await webhook.got(5)
    await handler.aclose()
    assert kinds == [
        "task WORKING",
        "task WORKING",
        "task WORKING",
        "status_update WORKING",
        "status_update COMPLETED",
    ]


async def test_webhooks_for_tasks_that_do_not_exist_take_no_place_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aion_adk.tasks.push.MAX_WATCHED", 1)
    webhook = Webhook()
    handler = handler_of(asks_back, push=impatient())
    async with listening_webhook(webhook) as hook:
        task = await ask(handler, "start", configuration=to(hook))
        await webhook.got(2)
        stranger = TaskPushNotificationConfig(task_id="no-such-task", url=hook)
        with pytest.raises(TaskNotFoundError):
            await handler.on_create_task_push_notification_config(stranger, call("mallory"))
        await handler.on_cancel_task(CancelTaskRequest(id=task.id), call())
        assert (await webhook.got(3))[-1] == "status_update CANCELED"
    await handler.aclose()


class Names:
    """Resolves every name: to a public address for the first look-ups, then to this machine."""

    def __init__(self, *, public_for: int) -> None:
        self._left = public_for

    def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        self._left -= 1
        name = host.decode() if isinstance(host, bytes) else host
        is_address = name.replace(".", "").isdigit()
        address = name if is_address else PUBLIC if self._left >= 0 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


async def test_a_name_that_becomes_private_after_it_was_checked_gets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    webhook = Webhook()
    push = PushDelivery(MemoryPushConfigs())
    handler = handler_of(talks, push=push)
    async with listening_webhook(webhook) as hook:
        monkeypatch.setattr(socket, "getaddrinfo", Names(public_for=2).getaddrinfo)
        named = hook.replace("127.0.0.1", "rebinding.example")
        await ask(handler, "go", configuration=to(named))
        await handler.aclose()
    assert webhook.posts == []


async def test_a_notification_goes_to_the_address_that_was_checked_under_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names(public_for=10).getaddrinfo)
    sent: list[httpx.Request] = []

    def receive(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    transport = PublicAddresses(httpx.MockTransport(receive))
    async with httpx.AsyncClient(transport=transport) as client:
        await client.post("https://hook.example/x", json={"a": 1})
    [request] = sent
    assert request.url == f"https://{PUBLIC}/x"
    assert request.headers["host"] == "hook.example"
    assert request.extensions["sni_hostname"] == "hook.example"
    assert request.read() == b'{"a":1}'


async def test_a_webhook_that_hangs_does_not_slow_the_task() -> None:
    webhook = Webhook()
    webhook.open.clear()
    push = impatient()
    handler = handler_of(talks, push=push)
    async with listening_webhook(webhook) as hook:
        task = await ask(handler, "go", configuration=to(hook))
        assert state_of(task) == "COMPLETED"
        assert webhook.posts == []
        webhook.open.set()
        assert (await webhook.got(3))[-1] == "status_update COMPLETED"
    await handler.aclose()


async def test_a_webhook_that_is_gone_is_tried_a_few_times_and_then_once_an_event() -> None:
    tries: list[str] = []

    async def refuse(request: httpx.Request) -> httpx.Response:
        tries.append(str(request.url))
        raise httpx.ConnectError("refused")

    transport = RetryingTransport(httpx.MockTransport(refuse), attempts=3, first_pause=0)
    push = PushDelivery(MemoryPushConfigs(), private_urls=True, transport=transport)
    handler = handler_of(talks, push=push)
    task = await ask(handler, "go", configuration=to("http://127.0.0.1:1/hook"))
    await handler.aclose()
    assert state_of(task) == "COMPLETED"
    assert len(tries) == 3 + 1 + 1


@pytest.mark.parametrize("url", ["http://127.0.0.1/x", "http://169.254.169.254/", "file:///etc"])
async def test_webhooks_inside_the_network_are_refused_by_default(url: str) -> None:
    handler = handler_of(talks, push=PushDelivery(MemoryPushConfigs()))
    with pytest.raises(InvalidParamsError):
        await ask(handler, "go", configuration=to(url))


async def test_an_unknown_task_is_refused_before_its_webhook_is_checked() -> None:
    handler = handler_of(talks, push=PushDelivery(MemoryPushConfigs()))
    with pytest.raises(TaskNotFoundError):
        await ask(handler, "go", task_id="none", configuration=to("file:///etc"))


@pytest.mark.parametrize("url", ["http://x:port/", "http://", "ftp://127.0.0.1/x"])
async def test_what_is_no_web_address_is_refused_where_private_ones_are_not(url: str) -> None:
    with pytest.raises(InvalidParamsError):
        await ask(handler_of(talks, push=impatient()), "go", configuration=to(url))


async def test_a_server_without_push_notifications_says_so() -> None:
    app = to_a2a(Acting(name="talking", act=talks), push_notifications=False)
    assert not app.card.capabilities.push_notifications
    with pytest.raises(PushNotificationNotSupportedError):
        await ask(handler_of(talks), "go", configuration=to("https://example.com/hook"))


async def test_a_webhook_registered_for_a_parked_task_gets_what_follows() -> None:
    webhook = Webhook()
    push = impatient()
    handler = handler_of(asks_back, push=push)
    async with listening_webhook(webhook) as hook:
        task = await ask(handler, "start")
        config = TaskPushNotificationConfig(task_id=task.id, id="mine", url=hook)
        created = await handler.on_create_task_push_notification_config(config, call())
        await ask(handler, "done", task_id=task.id)
        kinds = await webhook.got(2)
    assert await push.configs.get_info(task.id, call()) == [created]
    await push.configs.delete_info(task.id, call(), "mine")
    await handler.aclose()
    assert kinds == ["status_update WORKING", "status_update COMPLETED"]
    assert await push.configs.get_info(task.id, call()) == []


async def test_the_oldest_push_configurations_make_room() -> None:
    configs = MemoryPushConfigs(most=2)
    for task_id in "abc":
        await configs.set_info(task_id, TaskPushNotificationConfig(url="https://x"), call("ann"))
    assert await configs.get_info("a", call("ann")) == []
    assert len(await configs.get_info_for_dispatch("c")) == 1
    assert await configs.get_info("c", call("bob")) == []


async def test_a_task_that_was_paused_before_a_restart_still_has_its_webhooks() -> None:
    webhook = Webhook()
    configs, store = MemoryPushConfigs(), MemoryTaskStore()

    def started() -> BridgeRequestHandler:
        push = PushDelivery(configs, private_urls=True, transport=RetryingTransport())
        return handler_of(asks_back, task_store=store, push=push, durable=True)

    async with listening_webhook(webhook) as hook:
        handler = started()
        task = await ask(handler, "start", configuration=to(hook))
        await handler.aclose()
        before = len(webhook.posts)
        handler = started()
        await cancel(handler, task.id)
        kinds = await webhook.got(before + 1)
        await handler.aclose()
    assert kinds[before:] == ["status_update CANCELED"]
