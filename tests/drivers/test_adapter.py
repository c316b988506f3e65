import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import pytest
from a2a.types import CancelTaskRequest, Part, TaskState
from google.adk.agents.run_config import (
    RunConfig,
    StreamingMode,  # pyright: ignore[reportPrivateImportUsage]  # ADK documents it from here
)
from google.adk.runners import InMemoryRunner
from google.genai import types

from aion_adk import build_agent_card
from aion_adk.drivers import AdapterAgent
from tests.serving import client_of, deltas_of, request_of, send, serving, stream, text_of


class Recording:
    def __init__(self) -> None:
        self.started = asyncio.Semaphore(0)
        self.cancelled: list[Any] = []
        self.closed = False

    async def invoke(self, user_input: str, context_id: str | None = None, **kwargs: Any) -> Any:
        self.started.release()
        await asyncio.Event().wait()

    async def close(self) -> None:
        self.closed = True


class CancelsEverything(Recording):
    async def cancel(self, **kwargs: Any) -> None:
        self.cancelled.append("everything")


class CancelsOne(Recording):
    async def cancel(self, context_id: str) -> None:
        self.cancelled.append(context_id)


class Flooding(CancelsOne):
    async def stream(self, user_input: str, context_id: str) -> AsyncGenerator[str, None]:
        while True:
            self.started.release()
            yield "x"


async def run_two_and_cancel_one(adapter: Recording) -> None:
    async with serving(AdapterAgent("agent", adapter)) as url, client_of(url) as client:
        tasks: list[str] = []
        for _ in range(2):
            request = request_of("hi")
            request.configuration.return_immediately = True
            tasks += [frame.task.id async for frame in client.send_message(request)]
            await asyncio.wait_for(adapter.started.acquire(), 10)
        await client.cancel_task(CancelTaskRequest(id=tasks[0]))
        assert len(adapter.cancelled) == isinstance(adapter, CancelsOne)
        await client.cancel_task(CancelTaskRequest(id=tasks[1]))


async def test_a_cancel_that_stops_everything_is_not_called_while_another_run_is_on() -> None:
    adapter = CancelsEverything()
    await run_two_and_cancel_one(adapter)
    assert adapter.cancelled == ["everything"]


async def test_an_adapter_that_is_far_ahead_of_its_reader_is_cancelled_too() -> None:
    agent = AdapterAgent("agent", adapter := Flooding())
    runner = InMemoryRunner(agent)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    events = runner.run_async(
        user_id="u",
        session_id=session.id,
        new_message=types.Content(role="user", parts=[types.Part(text="go")]),
        run_config=RunConfig(streaming_mode=StreamingMode.SSE),
    )
    async with aclosing(events), asyncio.timeout(20):
        await anext(events)
        for _ in range(AdapterAgent.ahead):
            await adapter.started.acquire()
    assert len(adapter.cancelled) == 1


async def test_a_cancel_that_takes_a_context_id_gets_the_cancelled_one() -> None:
    adapter = CancelsOne()
    await run_two_and_cancel_one(adapter)
    assert len(set(adapter.cancelled)) == 2


async def test_the_adapter_is_closed_when_the_server_stops() -> None:
    adapter = Recording()
    async with serving(AdapterAgent("agent", adapter)):
        assert not adapter.closed
    assert adapter.closed


async def test_an_adapter_without_stream_answers_a_streaming_call() -> None:
    class Parts:
        async def invoke(self, user_input: str, context_id: str) -> list[Part]:
            return [Part(text=user_input), Part(url="https://e.test/a.pdf")]

    async with serving(AdapterAgent("agent", Parts())) as url:
        frames = await stream(url, "hi")
    message = frames[-1].status_update.status.message
    assert (deltas_of(frames), text_of(message)) == ([], "hi")
    assert message.parts[1].url == "https://e.test/a.pdf"


async def test_an_adapter_that_does_not_support_streaming_is_invoked() -> None:
    class Declares:
        def supports_streaming(self) -> bool:
            return False

        async def stream(self, user_input: str, context_id: str) -> None:
            raise NotImplementedError

        async def invoke(self, user_input: str, context_id: str) -> str:
            return "invoked"

    async with serving(AdapterAgent("agent", Declares())) as url:
        frames = await stream(url, "hi")
        assert (await send(url, "hi")).status.state == TaskState.TASK_STATE_COMPLETED
    assert text_of(frames[-1].status_update.status.message) == "invoked"


def test_metadata_of_the_adapter_is_on_the_card_where_no_option_replaces_it() -> None:
    class Described:
        def invoke(self, user_input: str, context_id: str) -> str:
            return ""

        def get_metadata(self) -> SimpleNamespace:
            return SimpleNamespace(
                name="Invoice Reader",
                description="Reads invoices.",
                version="2.0.0",
                skills=[{"id": "read", "name": "Read", "description": "d", "tags": ["t"]}],
                provider={"organization": "Acme", "url": "https://acme.test"},
            )

    agent = AdapterAgent("reader", Described(), version="3.0.0")
    card = build_agent_card(agent, url="http://127.0.0.1:1")
    assert (card.name, card.description, card.version) == (
        "Invoice Reader",
        "Reads invoices.",
        "3.0.0",
    )
    assert [skill.id for skill in card.skills] == ["read"]
    assert card.provider.organization == "Acme"


def test_an_object_without_invoke_is_refused() -> None:
    with pytest.raises(TypeError, match="expected an object with invoke"):
        AdapterAgent("agent", object())
