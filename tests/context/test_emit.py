import asyncio
import base64
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from a2a.types import Message, Part, TaskState
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from aion_adk import emit_data, emit_file, emit_message, emit_task_metadata, reply, reply_stream
from aion_adk.protocol.structs import to_plain
from tests.agents import agent_of, event_of, text_event
from tests.models import ScriptedModel, call, text
from tests.serving import (
    deltas_of,
    history_of,
    reply_of,
    send,
    serving,
    status_texts,
    statuses_of,
    stored,
    stream,
    text_of,
)

Use = Callable[[InvocationContext], None]


def using(use: Use, *, answer: str = "done") -> BaseAgent:
    async def run(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        use(ctx)
        yield text_event(agent, ctx, answer)

    return agent_of(run)


async def test_a_file_is_an_artifact_by_url_bytes_or_base64() -> None:
    """E: emit_file"""

    def emit(ctx: InvocationContext) -> None:
        emit_file(ctx, url="https://example.org/a.pdf", mime_type="application/pdf", name="a.pdf")
        emit_file(ctx, data=b"\x00\x01", mime_type="image/png", name="b.png")
        emit_file(ctx, data=base64.b64encode(b"text").decode(), mime_type="text/plain")

    async with serving(using(emit)) as url:
        task = await send(url, "hi")
    assert [(a.name, list(a.parts)) for a in task.artifacts] == [
        (
            "a.pdf",
            [Part(url="https://example.org/a.pdf", media_type="application/pdf", filename="a.pdf")],
        ),
        ("b.png", [Part(raw=b"\x00\x01", media_type="image/png", filename="b.png")]),
        ("file", [Part(raw=b"text", media_type="text/plain")]),
    ]


async def test_a_file_needs_exactly_one_source() -> None:
    """E: emit_file"""
    errors: list[str] = []
    sources: list[dict[str, Any]] = [
        {},
        {"url": "https://example.org", "data": "eA=="},
        {"data": "not base64"},
    ]

    def emit(ctx: InvocationContext) -> None:
        for source in sources:
            try:
                emit_file(ctx, mime_type="text/plain", **source)
            except ValueError as error:
                errors.append(str(error))

    async with serving(using(emit)) as url:
        task = await send(url, "hi")
    assert len(errors) == 3
    assert not task.artifacts


async def test_a_name_identifies_an_artifact_within_the_task() -> None:
    """E: append adds to the one of that name, a second one without it replaces."""

    def emit(ctx: InvocationContext) -> None:
        emit_data(ctx, {"row": 1}, name="rows", append=True, last_chunk=False)
        emit_data(ctx, {"row": 2}, name="rows", append=True)
        emit_data(ctx, "old", name="note")
        emit_data(ctx, "new", name="note")
        emit_data(ctx, 1)
        emit_data(ctx, 2, append=True)
        emit_data(ctx, 3)

    async with serving(using(emit)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert [(a.name, [to_plain(part.data) for part in a.parts]) for a in task.artifacts] == [
        ("rows", [{"row": 1}, {"row": 2}]),
        ("note", ["new"]),
        ("data", [1, 2]),
        ("data", [3]),
    ]
    updates = [f.artifact_update for f in frames if f.HasField("artifact_update")]
    assert [(u.append, u.last_chunk) for u in updates[:2]] == [(False, False), (True, True)]


async def test_an_artifact_can_be_added_to_in_a_later_turn() -> None:
    """E"""

    async def adding(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_data(ctx, len(ctx.session.events), name="log", append=True)
        yield event_of(
            agent,
            ctx,
            actions={"state_delta": {"a2a_outbox": {"status": {"state": 6}}}},
        )

    async with serving(agent_of(adding)) as url:
        first = await send(url, "one")
        assert first.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        task = await send(url, "two", task_id=first.id, context_id=first.context_id)
    [artifact] = task.artifacts
    assert len(artifact.parts) == 2


async def test_a_message_is_shown_while_the_task_goes_on_and_kept() -> None:
    """E: emit_message"""

    def emit(ctx: InvocationContext) -> None:
        emit_message(ctx, "halfway")
        emit_message(ctx, types.Content(parts=[types.Part(text="nearly")]))
        emit_message(ctx, Message(message_id="m1", parts=[Part(text="there")]))

    async with serving(using(emit)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert status_texts(frames) == [
        ("WORKING", "halfway"),
        ("WORKING", "nearly"),
        ("WORKING", "there"),
        ("COMPLETED", "done"),
    ]
    assert history_of(task) == ["hi", "halfway", "nearly", "there", "done"]


async def test_a_partial_message_is_only_streamed() -> None:
    """E, E2: emit_message(partial=True)"""

    def emit(ctx: InvocationContext) -> None:
        emit_message(ctx, "wri", partial=True)
        emit_message(ctx, "ting", partial=True)
        emit_message(ctx, "writing")

    async with serving(using(emit)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert deltas_of(frames) == ["wri", "ting"]
    assert status_texts(frames) == [("WORKING", "writing"), ("COMPLETED", "done")]
    assert history_of(task) == ["hi", "writing", "done"]
    assert not task.artifacts


async def test_an_emitted_message_that_is_the_reply_is_one_message() -> None:
    """C3 (4), C5: the final status repeats it under the id it has."""

    async def emitting(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_message(ctx, "all there is")
        yield event_of(agent, ctx)

    async with serving(agent_of(emitting)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert history_of(task) == ["hi", "all there is"]
    assert {s.message.message_id for s in statuses_of(frames)} == {task.status.message.message_id}


NUMBERS = [str(number) for number in range(40)]


def emit_numbers(ctx: InvocationContext | ToolContext) -> None:
    for number in NUMBERS:
        emit_message(ctx, number)
        emit_data(ctx, int(number), name="numbers", append=True)


async def from_async_code(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    emit_numbers(ctx)
    yield text_event(agent, ctx, "done")


async def from_a_thread(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    await asyncio.to_thread(emit_numbers, ctx)
    yield text_event(agent, ctx, "done")


def from_a_tool() -> BaseAgent:
    def count(tool_context: ToolContext) -> str:
        """Counts, in the thread pool."""
        assert threading.current_thread() is not threading.main_thread()
        emit_numbers(tool_context)
        return "counted"

    model = ScriptedModel(steps=[[call("count", call_id="1")], [text("done")]])
    return LlmAgent(name="llm", model=model, tools=[count])


@pytest.mark.parametrize(
    "agent", [agent_of(from_async_code), agent_of(from_a_thread), from_a_tool()]
)
async def test_the_order_is_kept_from_wherever_the_helpers_are_called(agent: BaseAgent) -> None:
    """E: async code, worker threads, sync tools."""
    async with serving(agent) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert [text for _, text in status_texts(frames)] == [*NUMBERS, "done"]
    assert history_of(task) == ["hi", *NUMBERS, "done"]
    [artifact] = task.artifacts
    assert [to_plain(part.data) for part in artifact.parts] == [int(n) for n in NUMBERS]
    kinds = [frame.WhichOneof("payload") for frame in frames[1 : 1 + 2 * len(NUMBERS)]]
    assert kinds == ["status_update", "artifact_update"] * len(NUMBERS)


async def test_many_threads_can_reply_and_emit_at_once() -> None:
    """E, C1: nothing is lost, each thread's own order is kept."""

    def write(ctx: InvocationContext, name: str) -> None:
        for number in range(20):
            reply(ctx, f"{name}{number}")
            emit_data(ctx, f"{name}{number}", name="shared", append=True)

    async def writing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        await asyncio.gather(*(asyncio.to_thread(write, ctx, name) for name in "abcd"))
        yield event_of(agent, ctx)

    async with serving(agent_of(writing)) as url:
        task = await send(url, "hi")
    [artifact] = task.artifacts
    artifact_texts = [to_plain(part.data) for part in artifact.parts]
    for values in (history_of(task)[1:], artifact_texts):
        assert len(values) == 80
        for name in "abcd":
            own = [value for value in values if value.startswith(name)]
            assert own == [f"{name}{number}" for number in range(20)]


async def test_a_reply_can_be_streamed_from_another_event_loop() -> None:
    """E: a sync tool that runs async code of its own."""

    def compose(tool_context: ToolContext) -> str:
        """Composes in its own event loop."""
        return asyncio.run(reply_stream(tool_context, ["from ", "afar"]))

    model = ScriptedModel(steps=[[call("compose", call_id="1")], [text("ignored")]])
    async with serving(LlmAgent(name="llm", model=model, tools=[compose])) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames)[:2] == ["from ", "afar"]
    assert status_texts(frames) == [("COMPLETED", "from afar")]


async def test_what_comes_after_the_turn_is_dropped_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """E, E1: nothing follows the terminal status."""
    contexts: list[InvocationContext] = []

    with caplog.at_level(logging.DEBUG, logger="aion_adk"):
        async with serving(using(contexts.append)) as url:
            task = await send(url, "hi")
            reply(contexts[0], "late")
            emit_message(contexts[0], "late")
            await asyncio.to_thread(emit_data, contexts[0], "late")
            emit_task_metadata(contexts[0], {"late": True})
            assert await reply_stream(contexts[0], ["late"]) == "late"
            after = await stored(url, task.id)
    assert after == task
    late = [record for record in caplog.records if "answered already" in record.getMessage()]
    assert len(late) == 5
    assert {record.levelno for record in late} == {logging.DEBUG}


async def test_a_streamed_reply_that_breaks_off_is_no_reply() -> None:
    """E2, F4: its section is closed all the same."""

    async def breaking() -> AsyncGenerator[str, None]:
        yield "so far"
        raise ConnectionError("secret")

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            await reply_stream(ctx, breaking())
        except ConnectionError:
            reply(ctx, "try again")
        yield event_of(agent, ctx)

    async with serving(agent_of(answering)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    updates = [f.artifact_update for f in frames if f.HasField("artifact_update")]
    assert [(text_of(Message(parts=u.artifact.parts)), u.last_chunk) for u in updates] == [
        ("so far", False),
        ("", True),
    ]
    assert (history_of(task), reply_of(task)) == (["hi", "try again"], "try again")
