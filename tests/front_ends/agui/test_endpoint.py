import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import GetTaskRequest, ListTasksRequest, TaskState
from ag_ui.core import AgentCapabilities
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk import to_a2a
from tests.agents import text_event
from tests.front_ends.calling import agui_events, run_input
from tests.front_ends.conversations import (
    LOCATION_SCHEMA,
    Breaking,
    Hello,
    Reporting,
    approving_agent,
    locating_agent,
    weather_agent,
)
from tests.serving import client_of, serving

TOOL = {"name": "get_location", "description": "Where the user is.", "parameters": LOCATION_SCHEMA}


async def test_the_stream_is_framed_as_every_client_reads_it() -> None:
    async with serving(Hello(name="hello"), agui=True) as url, httpx.AsyncClient() as http:
        answer = await http.post(f"{url}/agui", json=run_input("hi"))
        named = await http.post(f"{url}/agui/hello", json=run_input("hi"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (answer.headers["cache-control"], answer.headers["x-accel-buffering"]) == (
        "no-cache",
        "no",
    )
    assert "\r" not in answer.text
    assert "[DONE]" not in answer.text
    assert "null" not in answer.text
    assert named.status_code == 200


class Waiting(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "Hm", partial=True)
        await asyncio.Event().wait()


async def until_comment(answer: httpx.Response) -> AsyncGenerator[str, None]:
    async for line in answer.aiter_lines():
        if line:
            yield line
        if line.startswith(":"):
            return


async def test_an_idle_stream_is_kept_open_with_comments() -> None:
    async with (
        serving(Waiting(name="waiting"), agui=True, heartbeat=0.05) as url,
        httpx.AsyncClient() as http,
        http.stream("POST", f"{url}/agui", json=run_input("hi")) as answer,
        asyncio.timeout(20),
    ):
        lines = [line async for line in until_comment(answer)]
    assert lines[-1].startswith(":")
    assert all(line.startswith("data: ") for line in lines[:-1])


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/agui", b"not json", 400),
        ("/agui", b'"\xff"', 400),
        ("/agui", json.dumps(run_input("\ud800")).encode(), 400),
        ("/agui", json.dumps({"threadId": "t"}).encode(), 400),
        ("/agui/nobody", json.dumps(run_input("hi")).encode(), 404),
    ],
)
async def test_what_is_wrong_before_the_stream_is_an_error_in_json(
    path: str, body: bytes, status: int
) -> None:
    async with serving(Hello(name="hello"), agui=True) as url, httpx.AsyncClient() as http:
        answer = await http.post(f"{url}{path}", content=body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


async def test_a_run_without_messages_just_ends() -> None:
    async with serving(Hello(name="hello"), agui=True) as url:
        events = await agui_events(url, {"threadId": "t", "runId": "r", "messages": []})
    assert [event["type"] for event in events] == ["RUN_STARTED", "RUN_FINISHED"]


async def test_the_thread_is_the_context_of_the_task() -> None:
    async with serving(Hello(name="hello"), agui=True) as url:
        await agui_events(url, run_input("hi"))
        async with client_of(url) as a2a:
            listed = await a2a.list_tasks(ListTasksRequest(context_id="thread"))
            task = await a2a.get_task(GetTaskRequest(id=listed.tasks[0].id))
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert task.history[0].message_id == "run"


async def test_the_capabilities_are_valid_and_name_the_agent() -> None:
    async with serving(weather_agent(), agui=True) as url, httpx.AsyncClient() as http:
        answer = await http.get(f"{url}/agui/capabilities")
    capabilities = AgentCapabilities.model_validate(answer.json())
    assert capabilities.identity is not None
    assert capabilities.identity.name == "weather"


async def test_an_unexpected_failure_leaks_nothing() -> None:
    async with serving(Breaking(name="breaking"), agui=True) as url:
        events = await agui_events(url, run_input("go"))
    assert events[-1]["type"] == "RUN_ERROR"
    assert "hunter2" not in json.dumps(events)


async def test_files_go_both_ways() -> None:
    image = {"type": "image", "source": {"type": "data", "value": "cG5n", "mimeType": "image/png"}}
    old = {"type": "binary", "mimeType": "text/plain", "data": "aGk="}
    message = {"id": "u1", "role": "user", "content": [image, old]}
    async with serving(Reporting(name="reporting"), agui=True) as url:
        events = await agui_events(url, run_input("", messages=[message]))
    sent = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
    assert sent == ["Got image/png b'png', text/plain b'hi'."]
    [shown] = [event for event in events if event["type"] == "ACTIVITY_SNAPSHOT"]
    assert shown["content"]["name"] == "report"
    assert shown["content"]["parts"][0]["source"]["value"] == "https://example.com/r.pdf"


async def test_a_new_user_message_cancels_the_task_that_waits_for_a_client_tool() -> None:
    async with serving(locating_agent(), agui=True) as url:
        await agui_events(url, run_input("where am I?", tools=[TOOL]))
        again = run_input("never mind", tools=[TOOL], runId="run2")
        events = await agui_events(url, again)
        async with client_of(url) as a2a:
            tasks = (await a2a.list_tasks(ListTasksRequest(context_id="thread"))).tasks
    assert events[-1]["type"] == "RUN_FINISHED"
    states = {TaskState.Name(task.status.state) for task in tasks}
    assert states == {"TASK_STATE_CANCELED", "TASK_STATE_COMPLETED"}


async def test_a_client_that_leaves_at_the_end_of_its_run_leaves_the_task_waiting() -> None:
    app = to_a2a(locating_agent(), agui=True, task_store=(store := InMemoryTaskStore()))
    sent, gone = asyncio.Event(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        if sent.is_set():
            await gone.wait()
            return {"type": "http.disconnect"}
        sent.set()
        body = run_input("where am I?", tools=[TOOL])
        return {"type": "http.request", "body": json.dumps(body).encode()}

    async def send(message: Any) -> None:
        if b"RUN_FINISHED" in message.get("body", b""):
            gone.set()
            await asyncio.Event().wait()

    scope: Any = {
        "type": "http",
        "method": "POST",
        "path": "/agui",
        "headers": [],
        "query_string": b"",
    }
    async with app.router.lifespan_context(app), asyncio.timeout(20):
        await app(scope, receive, send)
    listed = await store.list(ListTasksRequest(), ServerCallContext())
    states = [task.status.state for task in listed.tasks]
    assert states == [TaskState.TASK_STATE_INPUT_REQUIRED]


async def test_cancelling_every_interrupt_cancels_the_task() -> None:
    async with serving(approving_agent(), agui=True) as url:
        props = {"interrupts": True}
        paused = await agui_events(url, run_input("send 5", forwardedProps=props))
        [interrupt] = paused[-1]["outcome"]["interrupts"]
        resume = [{"interruptId": interrupt["id"], "status": "cancelled"}]
        body: dict[str, Any] = run_input("x", resume=resume, runId="run2", protocolVersion="1.0")
        events = await agui_events(url, {**body, "messages": []})
    assert [event["type"] for event in events] == ["RUN_STARTED", "RUN_FINISHED"]
    assert events[-1]["outcome"] == {"type": "cancelled"}


async def test_a_page_of_an_allowed_origin_may_call() -> None:
    origin = "https://app.example"
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    async with (
        serving(Hello(name="hello"), agui=True, cors_origins=[origin]) as url,
        httpx.AsyncClient() as http,
    ):
        allowed = await http.options(f"{url}/agui", headers=headers)
        other = await http.options(f"{url}/agui", headers={**headers, "Origin": "https://x.org"})
    assert allowed.headers["access-control-allow-origin"] == origin
    assert "access-control-allow-origin" not in other.headers
