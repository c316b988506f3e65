import logging
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.types import Artifact, Message, Part, Task, TaskState, TaskStatus
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.workflow import START, Workflow
from google.genai import types

from aion_adk import A2AOutbox, emit_message, reply, reply_stream
from aion_adk.protocol.structs import to_dict, to_plain, to_struct
from tests.agents import (
    Behaviour,
    agent_of,
    event_of,
    in_parallel,
    in_sequence,
    outbox_event,
    text_event,
)
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


def message_of(value: str, **fields: Any) -> Message:
    return Message(parts=[Part(text=value)], **fields)


async def test_the_response_buffer_beats_outbox_and_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """C1: with a warning; artifacts and metadata of the patch still merge."""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, "from the buffer")
        patch = Task(
            history=[message_of("from the patch")],
            artifacts=[Artifact(artifact_id="a1", parts=[Part(text="artifact")])],
            metadata=to_struct({"k": 1}),
        )
        yield outbox_event(agent, ctx, A2AOutbox(task=patch))
        yield text_event(agent, ctx, "ordinary")

    with caplog.at_level(logging.WARNING, logger="aion_adk"):
        async with serving(agent_of(answering)) as url:
            task = await send(url, "hi")
    assert history_of(task) == ["hi", "from the buffer"]
    assert reply_of(task) == "from the buffer"
    assert [artifact.artifact_id for artifact in task.artifacts] == ["a1"]
    assert to_dict(task.metadata)["k"] == 1
    assert "ignored" in "".join(record.getMessage() for record in caplog.records)


async def test_each_write_to_the_buffer_is_one_message_in_order() -> None:
    """C1, C5: each once on the stream, all in the history, the last on the status."""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, "one")
        reply(ctx, types.Content(parts=[types.Part(text="two")]))
        reply(ctx, [Part(text="three"), types.Part(text=" and "), "more"])
        reply(ctx, message_of("four", message_id="m4", task_id="other", context_id="other"))
        yield text_event(agent, ctx, "ordinary")

    async with serving(agent_of(answering)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
        brief = await stored(url, frames[0].task.id, history_length=0)
    expected = ["one", "two", "three and more", "four"]
    assert [state for state, _ in status_texts(frames)] == ["WORKING"] * 3 + ["COMPLETED"]
    assert [text for _, text in status_texts(frames)] == expected
    assert history_of(task) == ["hi", *expected]
    assert task.history[-1] == task.status.message
    assert task.status.message.message_id == "m4"
    assert (task.status.message.task_id, task.status.message.context_id) == (
        task.id,
        task.context_id,
    )
    assert not brief.history
    assert brief.status.message == task.status.message


async def test_a_message_written_twice_is_two_messages() -> None:
    """C1"""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        message = message_of("again", message_id="m1")
        reply(ctx, message)
        reply(ctx, message)
        yield event_of(agent, ctx)

    async with serving(agent_of(answering)) as url:
        task = await send(url, "hi")
    assert history_of(task) == ["hi", "again", "again"]
    assert len({message.message_id for message in task.history}) == 3


async def test_a_streamed_reply_is_durable_as_one_message() -> None:
    """C1, E2"""

    async def chunks() -> AsyncGenerator[str, None]:
        for chunk in ("to", "geth", "er"):
            yield chunk

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert await reply_stream(ctx, ["Hel", "", "lo"]) == "Hello"
        assert await reply_stream(ctx, chunks()) == "together"
        yield text_event(agent, ctx, "ordinary")

    async with serving(agent_of(answering)) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == ["Hel", "lo", "to", "geth", "er"]
    assert status_texts(frames) == [("WORKING", "Hello"), ("COMPLETED", "together")]


async def test_ordinary_content_never_beats_an_outbox() -> None:
    """C4"""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield outbox_event(agent, ctx, message_of("from the outbox"))
        yield text_event(agent, ctx, "partial", partial=True)
        yield text_event(agent, ctx, "ordinary")

    async with serving(agent_of(answering)) as url:
        assert reply_of(await send(url, "hi")) == "from the outbox"


async def test_native_content_can_be_written_to_the_buffer() -> None:
    """C4: final content and helpers in the order they came, before any outbox."""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "partial", partial=True)
        yield text_event(agent, ctx, "first")
        reply(ctx, "second")
        yield outbox_event(agent, ctx, message_of("from the outbox"))
        yield text_event(agent, ctx, "third")

    async with serving(agent_of(answering), native_content="buffer") as url:
        assert history_of(await send(url, "hi")) == ["hi", "first", "second", "third"]


async def only_partial(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield text_event(agent, ctx, "never ", partial=True)
    yield text_event(agent, ctx, "confirmed", partial=True)


async def confirmed(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield text_event(agent, ctx, "dra", partial=True)
    yield text_event(agent, ctx, "draft")
    yield text_event(agent, ctx, "final")


async def thinking(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    thought = types.Part(text="secretly", thought=True)
    yield event_of(agent, ctx, content=types.Content(parts=[thought, types.Part(text="openly")]))


async def calling(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    part = types.Part(function_call=types.FunctionCall(name="look", args={}))
    content = types.Content(parts=[types.Part(text="let me look"), part])
    yield event_of(agent, ctx, content=content)


async def emitting(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    emit_message(ctx, "first")
    emit_message(ctx, "last emitted")
    yield event_of(agent, ctx)


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (only_partial, "never confirmed"),
        (confirmed, "final"),
        (thinking, "openly"),
        (calling, "let me look"),
        (emitting, "last emitted"),
    ],
)
async def test_without_buffer_and_outbox_the_reply_is_the_text_of_the_agent(
    behaviour: Behaviour, expected: str
) -> None:
    """C3: (1) unconfirmed text, (2) last final response, (3) the session, (4) last emitted."""
    async with serving(agent_of(behaviour)) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (TaskState.TASK_STATE_COMPLETED, expected)


async def test_unconfirmed_text_of_one_author_survives_the_final_text_of_another() -> None:
    """C3 (1)"""
    tree = in_sequence(agent_of(only_partial, name="one"), agent_of(confirmed, name="two"))
    async with serving(tree) as url:
        assert reply_of(await send(url, "hi")) == "never confirmed"


async def test_text_is_confirmed_by_its_own_branch_only() -> None:
    """C3 (1)"""

    async def half(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, agent.name, partial=True)
        if agent.name == "left":
            yield text_event(agent, ctx, agent.name)

    tree = in_parallel(agent_of(half, name="left"), agent_of(half, name="right"))
    async with serving(tree) as url:
        assert reply_of(await send(url, "hi")) == "right"


async def test_an_agent_without_events_completes_without_a_message() -> None:
    """C3 (5)"""

    async def eventless(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for event in ():
            yield event

    async with serving(agent_of(eventless)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert [status.state for status in statuses_of(frames)] == [TaskState.TASK_STATE_COMPLETED]
    assert not task.status.HasField("message")
    assert history_of(task) == ["hi"]


async def test_the_output_of_a_workflow_is_the_reply() -> None:
    """C3 (2)"""

    def measure() -> dict[str, Any]:
        return {"level": 3}

    def judge(node_input: dict[str, Any]) -> dict[str, Any]:
        return {"high": node_input["level"] > 2}

    async with serving(Workflow(name="flow", edges=[(START, measure, judge)])) as url:
        task = await send(url, "hi")
    [part] = task.status.message.parts
    assert to_plain(part.data) == {"high": True}


async def test_what_passes_between_nodes_need_not_be_json() -> None:
    """C3 (2): only the output that is the reply is converted."""

    def measure() -> Any:
        return threading.Lock()

    def judge(node_input: Any) -> dict[str, Any]:
        return {"locked": node_input.locked()}

    async with serving(Workflow(name="flow", edges=[(START, measure, judge)])) as url:
        [part] = (await send(url, "hi")).status.message.parts
    assert to_plain(part.data) == {"locked": False}


async def test_an_empty_reply_is_no_reply() -> None:
    """C1, C3: the agent's own text is the reply then."""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, "")
        reply(ctx, [])
        reply(ctx, types.Content(parts=[types.Part(text="hidden", thought=True)]))
        emit_message(ctx, "")
        assert await reply_stream(ctx, [""]) == ""
        yield text_event(agent, ctx, "ordinary")

    async with serving(agent_of(answering)) as url:
        frames = await stream(url, "hi")
    assert status_texts(frames) == [("COMPLETED", "ordinary")]


async def test_the_text_that_a_workflow_returns_is_a_text_part() -> None:
    """C3 (2)"""

    def greet() -> str:
        return "hello"

    async with serving(Workflow(name="flow", edges=[(START, greet)])) as url:
        assert list((await send(url, "hi")).status.message.parts) == [Part(text="hello")]


async def test_the_reply_can_be_an_artifact() -> None:
    """C5"""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, "one")
        reply(ctx, "two")
        yield event_of(agent, ctx)

    async with serving(agent_of(answering), reply_as="artifact") as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    [artifact] = task.artifacts
    assert [part.text for part in artifact.parts] == ["one", "two"]
    assert not task.status.HasField("message")
    assert history_of(task) == ["hi"]
    assert status_texts(frames) == []


async def test_a_failure_is_on_the_status_even_where_replies_are_artifacts() -> None:
    """C5, F4"""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, "never sent")
        yield event_of(agent, ctx, error_code="SAFETY")

    async with serving(agent_of(failing), reply_as="artifact") as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert reply_of(task).startswith("The request could not be completed")
    assert not task.artifacts


async def test_a_patch_adds_history_and_merges_artifacts_and_metadata() -> None:
    """D2"""

    def patch(text: str) -> Task:
        return Task(
            id="ignored",
            context_id="ignored",
            history=[message_of("kept", message_id="m1"), message_of(text)],
            artifacts=[
                Artifact(artifact_id="same", parts=[Part(text=text)]),
                Artifact(artifact_id=text, parts=[Part(text=text)]),
            ],
            metadata=to_struct({"shallow": {text: True}, text: 1}),
            status=TaskStatus(state=TaskState.TASK_STATE_INPUT_REQUIRED),
        )

    async def patching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        text = ctx.user_content.parts[0].text if ctx.user_content and ctx.user_content.parts else ""
        yield outbox_event(agent, ctx, patch(text or ""))

    async with serving(agent_of(patching)) as url:
        first = await send(url, "one")
        task = await send(url, "two", task_id=first.id, context_id=first.context_id)
    assert task.id == first.id
    assert history_of(task) == ["one", "kept", "one", "two", "two"]
    assert [(a.artifact_id, a.parts[0].text) for a in task.artifacts] == [
        ("same", "two"),
        ("one", "one"),
        ("two", "two"),
    ]
    assert to_dict(task.metadata) == {"shallow": {"two": True}, "one": 1, "two": 1}


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("UNSPECIFIED", "COMPLETED"),
        ("SUBMITTED", "COMPLETED"),
        ("WORKING", "COMPLETED"),
        ("COMPLETED", "COMPLETED"),
        ("INPUT_REQUIRED", "INPUT_REQUIRED"),
        ("AUTH_REQUIRED", "AUTH_REQUIRED"),
        ("FAILED", "FAILED"),
        ("REJECTED", "REJECTED"),
    ],
)
async def test_a_patch_decides_how_the_task_ends(asked: str, given: str) -> None:
    """D2"""

    async def patching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        status = TaskStatus(state=f"TASK_STATE_{asked}", message=message_of("the last word"))
        yield outbox_event(agent, ctx, Task(status=status, history=[message_of("before it")]))

    async with serving(agent_of(patching)) as url:
        frames = await stream(url, "hi")
    assert status_texts(frames) == [("WORKING", "before it"), (given, "the last word")]


async def test_the_inbound_message_sent_back_is_a_message_of_its_own() -> None:
    """D1: echoing does not lose the reply to the id it shares with the request."""

    async def echoing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield outbox_event(agent, ctx, message_of("echo", message_id="m1"))

    async with serving(agent_of(echoing)) as url:
        task = await send(url, "hi", message_id="m1")
    assert history_of(task) == ["hi", "echo"]
    assert task.status.message.message_id not in {"", "m1"}
    assert text_of(task.status.message) == "echo"
