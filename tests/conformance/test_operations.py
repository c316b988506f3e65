"""What the operations of section 3 must do, on every binding; docstrings name the section."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any, cast

import pytest

from aion_adk.protocol.stamp import new_id
from tests.conformance.conftest import Server
from tests.conformance.messages import kinds, message, request, send, state, stream
from tests.conformance.wires import Json, Wire, call

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENOUGH = 10


def names_in(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in cast(Json, value).items():
                yield name
                yield from names_in(inner)
        case list():
            for inner in cast(list[Any], value):
                yield from names_in(inner)
        case _:
            pass


def ids_of(messages: list[Json]) -> list[str]:
    return [sent["messageId"] for sent in messages]


async def test_a_task_has_an_id_a_context_and_a_timed_state(wire: Wire) -> None:
    """3.4.1, 4.1.1, 5.6.1: UTC with a Z, milliseconds at the finest"""
    task = await send(wire, "tck-complete-task")
    assert task["id"]
    assert task["contextId"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", task["status"]["timestamp"])
    assert [m["role"] for m in task["history"]] == ["ROLE_USER", "ROLE_AGENT"]


@pytest.mark.parametrize("name", ["jsonrpc", "rest"])
async def test_names_in_json_have_no_underscores(server: Server, name: str) -> None:
    """5.5"""
    task = await send(server.wires[name], "tck-complete-task")
    assert [key for key in names_in(task) if "_" in key] == []


async def test_a_context_that_the_client_names_is_kept(wire: Wire) -> None:
    """3.4.1"""
    context = f"context-{new_id()}"
    first = await send(wire, "tck-complete-task", contextId=context)
    second = await send(wire, "tck-complete-task", contextId=context)
    assert (first["contextId"], second["contextId"]) == (context, context)
    assert first["id"] != second["id"]


async def test_a_message_without_a_context_opens_one_of_its_own(wire: Wire) -> None:
    """3.4.1"""
    first, second = await send(wire, "tck-complete-task"), await send(wire, "tck-complete-task")
    assert first["contextId"] != second["contextId"]


async def test_a_call_returns_at_once_when_asked_to_and_the_task_goes_on(wire: Wire) -> None:
    """3.2.2, 3.3.3"""
    task = await send(wire, "other", configuration={"returnImmediately": True})
    assert state(task) == "WORKING"
    followed = wire.frames("SubscribeToTask", {"id": task["id"]})
    async with asyncio.timeout(ENOUGH):
        frames = [frame async for frame in followed]
    assert state(frames[-1]["statusUpdate"]) == "INPUT_REQUIRED"


@pytest.mark.parametrize(("length", "kept"), [(None, 4), (0, 0), (1, 1), (3, 3), (50, 4)])
async def test_history_is_as_long_as_asked_for(wire: Wire, length: int | None, kept: int) -> None:
    """3.2.4: unset, none, at most n of the most recent"""
    wanted: Json = {} if length is None else {"historyLength": length}
    context = f"context-{new_id()}"
    paused = await send(wire, "tck-input-required", contextId=context)
    task = await send(wire, "tck-complete-task", taskId=paused["id"], configuration=wanted)
    got = await call(wire, "GetTask", {"id": task["id"], **wanted})
    listed = await call(wire, "ListTasks", {"contextId": context, **wanted})
    whole = ids_of((await call(wire, "GetTask", {"id": task["id"]}))["history"])
    recent = whole[len(whole) - kept :]
    for seen in (task, got, *listed["tasks"]):
        assert ids_of(seen.get("history", [])) == recent


async def test_a_stream_begins_with_the_task_and_ends_with_its_last_state(wire: Wire) -> None:
    """3.1.2"""
    frames = await stream(wire, "tck-stream-001")
    assert kinds(frames) == ["task", "artifactUpdate", "statusUpdate"]
    task = frames[0]["task"]
    assert {
        frame["taskId"] for frame in (frames[1]["artifactUpdate"], frames[2]["statusUpdate"])
    } == {task["id"]}
    assert state(await call(wire, "GetTask", {"id": task["id"]})) == "COMPLETED"


async def test_a_stream_ends_when_the_task_needs_input(wire: Wire) -> None:
    """3.1.2, 11.7: interrupted states close the stream too"""
    frames = await stream(wire, "tck-input-required")
    assert state(frames[-1]["statusUpdate"]) == "INPUT_REQUIRED"


async def test_every_stream_of_a_task_gets_the_same_events_in_order(wire: Wire) -> None:
    """3.1.6, 3.5.2: the task first, and a stream that closes leaves the others alone"""
    started = wire.frames("SendStreamingMessage", request("test-resubscribe-message-id"))
    async with asyncio.timeout(ENOUGH), aclosing(started):
        task = (await anext(started))["task"]
        assert state((await anext(started))["statusUpdate"]) == "WORKING"
        leaving = wire.frames("SubscribeToTask", {"id": task["id"]})
        staying = wire.frames("SubscribeToTask", {"id": task["id"]})
        async with aclosing(staying):
            assert (await anext(leaving))["task"]["id"] == task["id"]
            assert (await anext(staying))["task"]["id"] == task["id"]
            await leaving.aclose()
            await call(wire, "CancelTask", {"id": task["id"]})
            assert [f async for f in staying] == [f async for f in started]


async def test_a_paused_task_is_followed_to_its_end(wire: Wire) -> None:
    """3.1.6, 3.5.2: subscribed to while it waits, each stream sees all of the next turn"""
    paused = await send(wire, "tck-input-required")
    named = {"id": paused["id"]}
    streams = [wire.frames("SubscribeToTask", named) for _ in range(2)]
    async with asyncio.timeout(ENOUGH):
        for each in streams:
            assert state((await anext(each))["task"]) == "INPUT_REQUIRED"
        await send(wire, "tck-artifact-text", taskId=paused["id"])
        first, second = [[frame async for frame in each] for each in streams]
    assert first == second
    assert kinds(first) == ["statusUpdate", "artifactUpdate", "statusUpdate"]
    assert [state(first[at]["statusUpdate"]) for at in (0, -1)] == ["WORKING", "COMPLETED"]


async def test_the_followers_of_a_paused_task_get_its_cancellation(wire: Wire) -> None:
    """3.1.6, F3"""
    paused = await send(wire, "tck-input-required")
    followed = wire.frames("SubscribeToTask", {"id": paused["id"]})
    async with asyncio.timeout(ENOUGH):
        await anext(followed)
        await call(wire, "CancelTask", {"id": paused["id"]})
        rest = [frame async for frame in followed]
    assert [state(frame["statusUpdate"]) for frame in rest] == ["CANCELED"]


async def test_a_paused_task_can_be_canceled_once(wire: Wire) -> None:
    """3.1.5, F3"""
    paused = await send(wire, "tck-input-required")
    assert state(await call(wire, "CancelTask", {"id": paused["id"]})) == "CANCELED"
    assert state(await call(wire, "GetTask", {"id": paused["id"]})) == "CANCELED"


async def test_a_running_task_can_be_canceled(wire: Wire) -> None:
    """3.1.5"""
    task = await send(
        wire, "test-resubscribe-message-id", configuration={"returnImmediately": True}
    )
    assert state(await call(wire, "CancelTask", {"id": task["id"]})) == "CANCELED"


async def test_a_list_leaves_artifacts_out_unless_they_are_asked_for(wire: Wire) -> None:
    """3.1.4"""
    context = f"context-{new_id()}"
    task = await send(wire, "tck-artifact-text", contextId=context)
    bare = await call(wire, "ListTasks", {"contextId": context})
    whole = await call(wire, "ListTasks", {"contextId": context, "includeArtifacts": True})
    assert [seen["id"] for seen in bare["tasks"]] == [task["id"]]
    assert "artifacts" not in bare["tasks"][0]
    assert [part["text"] for part in whole["tasks"][0]["artifacts"][0]["parts"]] == [
        "Generated text content"
    ]


async def test_pages_hold_every_task_once_newest_first(wire: Wire) -> None:
    """3.1.4: cursor, order, and an empty token on the last page"""
    context = f"context-{new_id()}"
    sent = [(await send(wire, "tck-complete-task", contextId=context))["id"] for _ in range(5)]
    seen: list[str] = []
    token, pages = "", 0
    while pages == 0 or token:
        asked = {"contextId": context, "pageSize": 2, **({"pageToken": token} if token else {})}
        page = await call(wire, "ListTasks", asked)
        assert (page["totalSize"], page["pageSize"]) == (5, 2)
        seen += [task["id"] for task in page["tasks"]]
        token, pages = page.get("nextPageToken", ""), pages + 1
    assert (seen, pages) == (sent[::-1], 3)


@pytest.mark.parametrize("name", ["jsonrpc", "rest"])
async def test_the_token_of_the_next_page_is_always_there(server: Server, name: str) -> None:
    """3.1.4: present and empty where JSON has fields that may be absent"""
    page = await call(server.wires[name], "ListTasks", {"contextId": "nobody-was-here"})
    assert page == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


async def test_a_list_can_be_narrowed_to_a_state(wire: Wire) -> None:
    """3.1.4"""
    context = f"context-{new_id()}"
    paused = await send(wire, "tck-input-required", contextId=context)
    await send(wire, "tck-complete-task", contextId=context)
    asked = {"contextId": context, "status": "TASK_STATE_INPUT_REQUIRED"}
    page = await call(wire, "ListTasks", asked)
    assert [task["id"] for task in page["tasks"]] == [paused["id"]]


async def test_a_follow_up_by_task_id_alone_goes_on_in_the_tasks_context(wire: Wire) -> None:
    """3.4.2"""
    paused = await send(wire, "tck-input-required")
    task = await send(wire, "tck-complete-task", taskId=paused["id"])
    assert (task["id"], task["contextId"]) == (paused["id"], paused["contextId"])


async def test_the_same_message_twice_is_one_task(wire: Wire) -> None:
    """3.3.1, A7"""
    sent = {"message": message("tck-complete-task", contextId=f"context-{new_id()}")}
    first = (await call(wire, "SendMessage", sent))["task"]
    assert (await call(wire, "SendMessage", sent))["task"] == first


async def test_a_task_made_on_one_binding_is_the_same_on_the_others(server: Server) -> None:
    """5.1"""
    for maker in server.wires.values():
        task = await send(maker, "tck-artifact-data")
        for reader in server.wires.values():
            assert await call(reader, "GetTask", {"id": task["id"]}) == task


async def test_the_extended_card_is_what_the_hook_returns(wire: Wire) -> None:
    """3.1.11"""
    card = await call(wire, "GetExtendedAgentCard", {})
    assert card["description"].endswith("This is the extended card.")
    assert card["name"] == "conformance"
