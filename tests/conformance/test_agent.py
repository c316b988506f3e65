"""What the conformance agent does for each prefix, the same on every binding."""

import base64
from contextlib import aclosing

import pytest

from tests.conformance.messages import kinds, message, request, send, state, stream
from tests.conformance.wires import Json, Wire, call

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILE = base64.b64encode(b"Generated file content\n").decode()
ENDINGS = {
    "tck-complete-task": "COMPLETED",
    "tck-delayed-complete": "COMPLETED",
    "tck-input-required": "INPUT_REQUIRED",
    "tck-auth-required": "AUTH_REQUIRED",
    "tck-reject-task": "REJECTED",
    "tck-stream-002": "COMPLETED",
    "tck-anything": "COMPLETED",
}
PARTS: dict[str, Json] = {
    "tck-artifact-text": {"text": "Generated text content"},
    "tck-artifact-file": {"raw": FILE, "filename": "output.txt", "mediaType": "text/plain"},
    "tck-artifact-file-url": {
        "url": "https://example.com/output.txt",
        "filename": "output.txt",
        "mediaType": "text/plain",
    },
    "tck-artifact-data": {"data": {"key": "value", "count": 42.0}},
}
STREAMED: dict[str, list[Json]] = {
    "tck-stream-001": [{"text": "Stream hello from TCK"}],
    "tck-stream-003": [{"text": "Stream task lifecycle"}],
    "tck-stream-ordering-001": [{"text": "Ordered output"}],
    "tck-stream-artifact-text": [{"text": "Streamed text content"}],
    "tck-stream-artifact-file": [
        {"raw": FILE, "filename": "output.txt", "mediaType": "text/plain"}
    ],
    "tck-stream-artifact-chunked": [{"text": "chunk-1 "}, {"text": "chunk-2"}],
}


@pytest.mark.parametrize("prefix", ENDINGS)
async def test_a_task_ends_in_the_state_of_its_prefix(wire: Wire, prefix: str) -> None:
    assert state(await send(wire, prefix)) == ENDINGS[prefix]


async def test_the_reply_is_the_message_of_the_final_status(wire: Wire) -> None:
    task = await send(wire, "tck-complete-task")
    assert task["status"]["message"]["parts"] == [{"text": "Hello from TCK"}]


@pytest.mark.parametrize("prefix", PARTS)
async def test_an_artifact_of_each_kind_comes_with_the_task(wire: Wire, prefix: str) -> None:
    task = await send(wire, prefix)
    assert [artifact["parts"] for artifact in task["artifacts"]] == [[PARTS[prefix]]]
    assert state(task) == "COMPLETED"


@pytest.mark.parametrize("prefix", STREAMED)
async def test_an_artifact_streams_chunk_by_chunk(wire: Wire, prefix: str) -> None:
    frames = await stream(wire, prefix)
    updates = [frame["artifactUpdate"] for frame in frames if "artifactUpdate" in frame]
    assert kinds(frames) == ["task", *["artifactUpdate"] * len(updates), "statusUpdate"]
    assert state(frames[0]["task"]) == "WORKING"
    assert [part for update in updates for part in update["artifact"]["parts"]] == STREAMED[prefix]
    assert [update.get("append", False) for update in updates] == [
        index > 0 for index in range(len(updates))
    ]
    assert [update.get("lastChunk", False) for update in updates] == [
        index == len(updates) - 1 for index in range(len(updates))
    ]
    assert state(frames[-1]["statusUpdate"]) == "COMPLETED"


@pytest.mark.parametrize("operation", ["SendMessage", "SendStreamingMessage"])
async def test_a_bare_message_is_the_whole_answer(wire: Wire, operation: str) -> None:
    """3.1.1, 3.1.2, C6"""
    sent = request("tck-message-response")
    if operation == "SendMessage":
        frames = [await call(wire, operation, sent)]
    else:
        frames = [frame async for frame in wire.frames(operation, sent)]
    assert kinds(frames) == ["message"]
    assert frames[0]["message"]["parts"] == [{"text": "Direct message response"}]
    assert frames[0]["message"]["role"] == "ROLE_AGENT"
    assert frames[0]["message"]["contextId"]
    assert "taskId" not in frames[0]["message"]


async def test_a_paused_task_goes_on_with_the_follow_up(wire: Wire) -> None:
    paused = await send(wire, "tck-input-required")
    follow_up = {"message": message("tck-complete-task", taskId=paused["id"])}
    task = (await call(wire, "SendMessage", follow_up))["task"]
    assert (task["id"], task["contextId"]) == (paused["id"], paused["contextId"])
    assert state(task) == "COMPLETED"


async def test_any_other_message_works_and_then_asks(wire: Wire) -> None:
    assert state(await send(wire, "something-else")) == "INPUT_REQUIRED"


async def test_the_task_to_resubscribe_to_works_until_it_is_canceled(wire: Wire) -> None:
    frames = wire.frames("SendStreamingMessage", request("test-resubscribe-message-id"))
    async with aclosing(frames):
        task = (await anext(frames))["task"]
        subscribed = wire.frames("SubscribeToTask", {"id": task["id"]})
        async with aclosing(subscribed):
            assert state((await anext(subscribed))["task"]) == "WORKING"
            await call(wire, "CancelTask", {"id": task["id"]})
            states = [state(frame["statusUpdate"]) async for frame in subscribed]
            assert states[-1] == "CANCELED"
