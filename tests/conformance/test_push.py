"""Sections 3.1.7 to 3.1.10 and 4.3: push configurations, and what is posted."""

import pytest
import pytest_asyncio

from tests.conformance.conftest import Server
from tests.conformance.errors import INVALID_PARAMS, TASK_NOT_FOUND, assert_refusal
from tests.conformance.messages import message, send, state
from tests.conformance.wires import Json, Wire, call, refusal_of
from tests.webhooks import Webhook, listening_webhook

pytestmark = pytest.mark.asyncio(loop_scope="module")

CREATE = "CreateTaskPushNotificationConfig"
GET = "GetTaskPushNotificationConfig"
LIST = "ListTaskPushNotificationConfigs"
DELETE = "DeleteTaskPushNotificationConfig"
HOOK = "http://127.0.0.1:9/hook"


@pytest_asyncio.fixture(loop_scope="module")
async def task_id(wire: Wire) -> str:
    return (await send(wire, "tck-input-required"))["id"]


def config(task_id: str, **fields: str) -> Json:
    return {"taskId": task_id, "id": "hook-1", "url": HOOK, "token": "secret-1", **fields}


async def test_a_configuration_can_be_made_read_listed_and_removed(
    wire: Wire, task_id: str
) -> None:
    """3.1.7 to 3.1.10: removing is idempotent"""
    named = {"taskId": task_id, "id": "hook-1"}
    made = await call(wire, CREATE, config(task_id))
    assert (made["id"], made["url"], made["taskId"]) == ("hook-1", HOOK, task_id)
    assert await call(wire, GET, named) == made
    assert await call(wire, LIST, {"taskId": task_id}) == {"configs": [made]}
    assert await call(wire, DELETE, named) == {}
    assert await call(wire, DELETE, named) == {}
    assert (await call(wire, LIST, {"taskId": task_id})).get("configs", []) == []
    assert_refusal(await refusal_of(wire, GET, named), TASK_NOT_FOUND, wire)


async def test_a_configuration_without_an_id_gets_one(wire: Wire, task_id: str) -> None:
    """3.1.7"""
    made = await call(wire, CREATE, {"taskId": task_id, "url": HOOK})
    assert made["id"]


async def test_a_configuration_of_the_same_id_replaces_the_first(wire: Wire, task_id: str) -> None:
    """3.1.7"""
    await call(wire, CREATE, config(task_id))
    await call(wire, CREATE, config(task_id, url=f"{HOOK}-2"))
    listed = await call(wire, LIST, {"taskId": task_id})
    assert [each["url"] for each in listed["configs"]] == [f"{HOOK}-2"]


@pytest.mark.parametrize("operation", [CREATE, GET, LIST, DELETE])
async def test_a_task_that_is_not_there_has_no_configurations(wire: Wire, operation: str) -> None:
    """3.1.7 to 3.1.10"""
    params: dict[str, Json] = {
        CREATE: config("nobody"),
        GET: {"taskId": "nobody", "id": "hook-1"},
        LIST: {"taskId": "nobody"},
        DELETE: {"taskId": "nobody", "id": "hook-1"},
    }
    assert_refusal(await refusal_of(wire, operation, params[operation]), TASK_NOT_FOUND, wire)


async def test_a_configuration_needs_an_address(wire: Wire, task_id: str) -> None:
    """3.3.2"""
    assert_refusal(await refusal_of(wire, CREATE, config(task_id, url="")), INVALID_PARAMS, wire)


async def test_updates_are_posted_with_the_credentials_that_were_given(
    server: Server, wire: Wire, task_id: str
) -> None:
    """3.1.7, 4.3.3"""
    webhook = Webhook()
    async with listening_webhook(webhook) as url:
        authentication = {"scheme": "Bearer", "credentials": "let-me-in"}
        await call(wire, CREATE, {**config(task_id, url=url), "authentication": authentication})
        sent = {"message": message("tck-complete-task", taskId=task_id)}
        task = (await call(wire, "SendMessage", sent))["task"]
        posts = await webhook.got(2)
    assert state(task) == "COMPLETED"
    assert posts == ["status_update WORKING", "status_update COMPLETED"]
    assert {post.status_update.task_id for post in webhook.posts} == {task_id}
    assert {each["authorization"] for each in webhook.headers} == {"Bearer let-me-in"}
    assert {each["x-a2a-notification-token"] for each in webhook.headers} == {"secret-1"}
