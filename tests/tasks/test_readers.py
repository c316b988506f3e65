"""Readers on real sockets: one that stops, one that leaves, one that waits."""

import asyncio
import threading
from collections.abc import AsyncGenerator

from a2a.server.context import ServerCallContext
from a2a.types import Part, Task
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.events import Event
from starlette.types import ASGIApp, Receive, Scope, Send

from aion_adk import to_a2a
from aion_adk.context.emit import emit_artifact
from aion_adk.storage.memory import MemoryTaskStore
from tests.acts import Held
from tests.agents import text_event
from tests.handling import Acting, handler_of, listen, shape_of
from tests.models import ScriptedModel, call, text
from tests.serving import deltas_of, listening, raw_stream, reply_of, rest_of, send, serving, stream

CHUNK = "x" * 4096
CHUNKS_A_SECTION = 100
SECTIONS = 80


class Flood:
    """Streams 32 MB of text, in sections that end, so that the run itself keeps none of it."""

    def __init__(self) -> None:
        self.done = asyncio.Event()

    async def act(self, agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for _ in range(SECTIONS):
            for _ in range(CHUNKS_A_SECTION):
                yield text_event(agent, ctx, CHUNK, partial=True)
            yield text_event(agent, ctx, "section")
        self.done.set()


async def test_a_reader_that_stops_reading_gets_an_error() -> None:
    flood = Flood()
    async with serving(Acting(name="flood", act=flood.act)) as url:
        connection = await raw_stream(url, "flood")
        await asyncio.wait_for(flood.done.wait(), 50)
        events = await rest_of(connection)
    assert "error" in events[-1]
    assert "too slow" in events[-1]["error"]["message"]


async def test_a_connection_that_drops_does_not_stop_the_run() -> None:
    """E8"""
    held = Held()
    left = asyncio.Event()

    def watched(url: str) -> ASGIApp:
        app = to_a2a(Acting(name="held", act=held.act), public_url=url)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            await app(scope, receive, send)
            left.set()

        return serve

    async with listening(watched) as url:
        reader, writer = await raw_stream(url, "one")
        await held.has_begun("one")
        await asyncio.wait_for(reader.readuntil(b'"b"'), 10)
        writer.transport.abort()
        await asyncio.wait_for(left.wait(), 10)
        held.go.set()
        task = await send(url, "two")
    assert (reply_of(task), held.stopped) == ("abc", [])
    assert held.began == ["one", "two"]


async def test_an_idle_stream_gets_comments() -> None:
    """E7"""
    held = Held()
    async with serving(Acting(name="held", act=held.act), heartbeat=0.05) as url:
        reader, writer = await raw_stream(url, "one")
        async with asyncio.timeout(10):
            for _ in range(3):
                await reader.readuntil(b": heartbeat\n\n")
        held.go.set()
        events = await rest_of((reader, writer))
    assert events[-1]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_the_first_text_leaves_before_the_next_is_made() -> None:
    held = Held()
    async with serving(Acting(name="held", act=held.act)) as url:
        reader, writer = await raw_stream(url, "one")
        head = await asyncio.wait_for(reader.readuntil(b'"b"'), 10)
        held.go.set()
        await rest_of((reader, writer))
    assert b'"a"' in head


async def test_a_long_answer_leaves_whole_and_its_first_chunk_by_itself() -> None:
    async def gushes(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for number in range(500):
            yield text_event(agent, ctx, f"{number} ", partial=True)
        yield text_event(agent, ctx, "done")

    async with serving(Acting(name="gushes", act=gushes)) as url:
        deltas = deltas_of(await stream(url, "go"))
    assert deltas[0] == "0 "
    assert "".join(deltas) == "".join(f"{number} " for number in range(500))


class Counting(MemoryTaskStore):
    def __init__(self) -> None:
        super().__init__()
        self.saved: list[Task] = []

    async def save(self, task: Task, context: ServerCallContext) -> None:
        await super().save(task, context)
        self.saved.append(task)


async def test_what_is_durable_is_written_when_it_changes_and_not_per_chunk() -> None:
    """E3"""

    async def writes(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for _ in range(100):
            yield text_event(agent, ctx, "text ", partial=True)
        for number in range(100):
            emit_artifact(
                ctx,
                [Part(text=str(number))],
                name="long",
                append=number > 0,
                last_chunk=number == 99,
            )
        yield text_event(agent, ctx, "done")

    store = Counting()
    events = await listen(handler_of(writes, task_store=store), "go")
    assert shape_of(events[-1]) == "COMPLETED"
    assert len(store.saved) == 3
    assert len(store.saved[-1].artifacts) == 1
    assert len(store.saved[-1].artifacts[0].parts) == 100


async def test_a_tool_that_blocks_its_thread_holds_up_no_other_request() -> None:
    entered, release = threading.Event(), threading.Event()

    def block() -> str:
        """Blocks."""
        entered.set()
        return "released" if release.wait(10) else "gave up"

    model = ScriptedModel(steps=[[call("block", call_id="1")], [text("ok")]])
    async with serving(LlmAgent(name="blocking", model=model, tools=[block])) as url:
        blocked = asyncio.create_task(send(url, "block"))
        assert await asyncio.to_thread(entered.wait, 10)
        assert reply_of(await send(url, "quick")) == "ok"
        assert not blocked.done()
        release.set()
        await blocked
    responses = [
        part.function_response.response
        for content in model.requests[-1].contents
        for part in content.parts or []
        if part.function_response
    ]
    assert responses == [{"result": "released"}]
