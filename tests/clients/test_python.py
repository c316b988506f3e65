"""a2a-sdk's own client on every binding."""

from contextlib import aclosing

import pytest
from a2a.types import (
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    Part,
    SubscribeToTaskRequest,
    TaskState,
)

from tests.clients.bindings import BINDINGS, client_on
from tests.clients.conftest import Story
from tests.serving import deltas_of, reply_of, request_of
from tests.webhooks import Webhook, listening_webhook, to

pytestmark = pytest.mark.asyncio(loop_scope="module")
FILES = [
    Part(text="files"),
    Part(raw=b"\x00\x01bytes", filename="in.bin", media_type="application/octet-stream"),
    Part(url="https://files.example/in.pdf", filename="in.pdf", media_type="application/pdf"),
]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_message_is_answered(binding: str, story: Story) -> None:
    async with client_on(binding, story.url, streaming=False) as client:
        frames = [frame async for frame in client.send_message(request_of("hello"))]
        task = frames[-1].task
        assert reply_of(task) == "You said: hello"
        assert await client.get_task(GetTaskRequest(id=task.id)) == task
        listed = await client.list_tasks(ListTasksRequest(context_id=task.context_id))
        assert [each.id for each in listed.tasks] == [task.id]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_files_go_in_and_come_out(binding: str, story: Story) -> None:
    async with client_on(binding, story.url, streaming=False) as client:
        frames = [frame async for frame in client.send_message(request_of(FILES))]
    task = frames[-1].task
    assert list(task.status.message.parts) == FILES
    made, linked = (artifact.parts[0] for artifact in task.artifacts)
    assert (made.raw, made.media_type, made.filename) == (b"made here", "text/plain", "made.txt")
    assert (linked.url, linked.media_type) == ("https://files.example/a.png", "image/png")


@pytest.mark.parametrize("binding", BINDINGS)
async def test_text_streams_as_it_comes(binding: str, story: Story) -> None:
    async with client_on(binding, story.url) as client:
        frames = [frame async for frame in client.send_message(request_of("count"))]
    assert "".join(deltas_of(frames)) == "one two three"
    final = frames[-1].status_update.status
    assert final.state == TaskState.TASK_STATE_COMPLETED
    assert [part.text for part in final.message.parts] == ["one two three"]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_running_task_is_followed_from_elsewhere_and_canceled(
    binding: str, story: Story
) -> None:
    """E8, F3"""
    async with client_on(binding, story.url) as client:
        started = client.send_message(request_of("wait"))
        task = (await anext(started)).task
        followed = client.subscribe(SubscribeToTaskRequest(id=task.id))
        assert (await anext(followed)).task.id == task.id
        canceled = await client.cancel_task(CancelTaskRequest(id=task.id))
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED
        for stream in (started, followed):
            async with aclosing(stream):  # pyright: ignore[reportArgumentType]  # a generator
                states = [f.status_update.status.state async for f in stream]
            assert states[-1] == TaskState.TASK_STATE_CANCELED


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_pause_is_answered_with_text(binding: str, story: Story) -> None:
    """F2"""
    async with client_on(binding, story.url, streaming=False) as client:
        frames = [frame async for frame in client.send_message(request_of("ask"))]
        paused = frames[-1].task
        assert paused.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        assert reply_of(paused) == "Which colour?"
        answer = request_of("blue", task_id=paused.id)
        frames = [frame async for frame in client.send_message(answer)]
    assert frames[-1].task.id == paused.id
    assert reply_of(frames[-1].task) == "You said: blue"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_updates_are_pushed_to_the_webhook_of_the_request(binding: str, story: Story) -> None:
    webhook = Webhook()
    async with (
        listening_webhook(webhook) as url,
        client_on(binding, story.url, streaming=False) as client,
    ):
        request = request_of("hello", configuration=to(url, token="secret-1"))
        frames = [frame async for frame in client.send_message(request)]
        posts = await webhook.got(2)
    assert posts == ["task WORKING", "status_update COMPLETED"]
    assert webhook.posts[0].task.id == frames[-1].task.id
    assert {each["x-a2a-notification-token"] for each in webhook.headers} == {"secret-1"}


@pytest.mark.parametrize("binding", BINDINGS)
async def test_the_extended_card_is_there(binding: str, story: Story) -> None:
    async with client_on(binding, story.url) as client:
        card = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
    assert card.name == "storyteller"
