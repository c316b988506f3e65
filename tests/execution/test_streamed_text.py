import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from a2a.types import SendMessageConfiguration, StreamResponse, SubscribeToTaskRequest, TaskState
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.workflow import START, Workflow
from google.genai import types

from aion_adk import TaskFailed, emit_data, emit_message, reply, reply_stream
from aion_adk.protocol.structs import to_dict
from tests.agents import (
    Behaviour,
    agent_of,
    event_of,
    in_parallel,
    in_sequence,
    outbox_event,
    text_event,
)
from tests.models import ScriptedModel, call, text
from tests.serving import (
    client_of,
    deltas_of,
    history_of,
    reply_of,
    request_of,
    send,
    serving,
    status_texts,
    stored,
    stream,
)

DELTA = "aion:stream-delta"


def sections_of(frames: Sequence[StreamResponse]) -> list[tuple[str, str]]:
    """Each section of streamed text: its artifact id and its text; wrong frames fail."""
    done: list[tuple[str, str]] = []
    opened: dict[str, str] = {}
    for frame in frames:
        update = frame.artifact_update
        artifact_id = update.artifact.artifact_id
        if not artifact_id.startswith(DELTA):
            continue
        assert update.artifact.name == "Stream Delta"
        assert update.append == (artifact_id in opened)
        new_text = "".join(part.text for part in update.artifact.parts)
        if update.last_chunk:
            assert not update.artifact.parts
            done.append((artifact_id, opened.pop(artifact_id)))
        else:
            opened[artifact_id] = opened.get(artifact_id, "") + new_text
    assert not opened
    return done


async def counting(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    for word in ("one ", "two ", "three"):
        yield text_event(agent, ctx, word, partial=True)
    yield text_event(agent, ctx, "one two three")


async def test_partial_text_streams_once_and_the_final_event_ends_its_section() -> None:
    """E2, E4"""
    async with serving(agent_of(counting)) as url:
        frames = await stream(url, "count")
    updates = [frame.artifact_update for frame in frames if frame.HasField("artifact_update")]
    assert deltas_of(frames) == ["one ", "two ", "three"]
    assert [(update.append, update.last_chunk) for update in updates] == [
        (False, False),
        (True, False),
        (True, False),
        (True, True),
    ]
    assert sections_of(frames) == [(DELTA, "one two three")]
    assert status_texts(frames) == [("COMPLETED", "one two three")]


async def test_text_with_any_line_end_streams_whole() -> None:
    """E2: readers of server-sent events split at more than LF."""
    words = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\r\nh\ri\x7fé"

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, words, partial=True)
        yield text_event(agent, ctx, words)

    async with serving(agent_of(answering)) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == [words]
    assert status_texts(frames) == [("COMPLETED", words)]


async def test_a_blocking_call_is_answered_with_the_finished_task() -> None:
    """A1"""
    async with serving(agent_of(counting)) as url:
        task = await send(url, "count")
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert reply_of(task) == "one two three"


async def test_a_call_that_does_not_wait_gets_the_working_task_and_the_run_goes_on() -> None:
    """A1"""
    may_go_on = asyncio.Event()

    async def waiting(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        await may_go_on.wait()
        yield text_event(agent, ctx, "done")

    configuration = SendMessageConfiguration(return_immediately=True)
    async with serving(agent_of(waiting)) as url:
        first = await send(url, "hi", configuration=configuration)
        assert first.status.state == TaskState.TASK_STATE_WORKING
        async with client_of(url, streaming=True) as client:
            following = client.subscribe(SubscribeToTaskRequest(id=first.id))
            await anext(following)
            may_go_on.set()
            followed = [frame async for frame in following]
        task = await stored(url, first.id)
    assert followed[-1].status_update.status == task.status
    assert reply_of(task) == "done"


async def test_the_frames_of_a_stream_come_in_their_order() -> None:
    """E1"""

    async def busy(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "strea", partial=True)
        emit_message(ctx, "emitted")
        emit_data(ctx, 1, name="emitted")
        reply(ctx, "first")
        reply(ctx, "last")
        artifact = {"artifactId": "patched", "parts": [{"text": "patched"}]}
        patch = {"artifacts": [artifact], "metadata": {"k": 1}}
        yield outbox_event(agent, ctx, patch)
        yield text_event(agent, ctx, "ming", partial=True)

    async with serving(agent_of(busy)) as url:
        frames = await stream(url, "hi")
    seen: list[str] = []
    for frame in frames:
        match frame.WhichOneof("payload"):
            case "task":
                seen.append("task")
            case "status_update":
                message = frame.status_update.status.message
                seen.append("".join(part.text for part in message.parts))
            case _:
                update = frame.artifact_update
                closed = " closed" if update.last_chunk and not update.artifact.parts else ""
                seen.append(f"{update.artifact.artifact_id}{closed}")
    assert seen == [
        "task",
        DELTA,
        "emitted",
        "emitted",
        DELTA,
        f"{DELTA} closed",
        "first",
        "patched",
        "last",
    ]
    assert frames[0].task.status.state == TaskState.TASK_STATE_WORKING
    assert history_of(frames[0].task) == ["hi"]
    assert to_dict(frames[-1].status_update.metadata) == {"k": 1}


async def test_text_after_a_tool_call_is_a_section_of_its_own() -> None:
    """E2"""

    async def calling(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "let me look", partial=True)
        part = types.Part(function_call=types.FunctionCall(name="look", args={}))
        yield event_of(agent, ctx, content=types.Content(role="model", parts=[part]))
        yield text_event(agent, ctx, "found it", partial=True)
        yield text_event(agent, ctx, "found it")

    async with serving(agent_of(calling)) as url:
        frames = await stream(url, "hi")
    assert sections_of(frames) == [(DELTA, "let me look"), (DELTA, "found it")]
    assert status_texts(frames) == [("COMPLETED", "found it")]


def taking_turns(names: str) -> Behaviour:
    """Agents that stream word by word, each waiting for the one before it."""
    turns = {name: asyncio.Event() for name in names}
    order = list(names)

    async def stream_in_turn(
        agent: BaseAgent, ctx: InvocationContext
    ) -> AsyncGenerator[Event, None]:
        for number in range(3):
            if agent.name != order[0] or number:
                await turns[agent.name].wait()
                turns[agent.name].clear()
            yield text_event(agent, ctx, f"{agent.name}{number} ", partial=True)
            turns[order[(order.index(agent.name) + 1) % len(order)]].set()
        yield text_event(agent, ctx, f"{agent.name}0 {agent.name}1 {agent.name}2 ")

    return stream_in_turn


async def test_parallel_branches_never_mix() -> None:
    """E2"""
    streaming = taking_turns("abc")
    tree = in_parallel(*(agent_of(streaming, name=name) for name in "abc"))
    async with serving(tree) as url:
        frames = await stream(url, "hi")
    assert sorted(sections_of(frames)) == [
        (DELTA, "a0 a1 a2 "),
        (f"{DELTA}:b", "b0 b1 b2 "),
        (f"{DELTA}:c", "c0 c1 c2 "),
    ]


async def test_parallel_nodes_of_a_workflow_never_mix() -> None:
    """E2: their text has the workflow's name."""
    streaming = taking_turns("ab")
    left, right = (agent_of(streaming, name=name) for name in "ab")
    async with serving(Workflow(name="flow", edges=[(START, (left, right))])) as url:
        frames = await stream(url, "hi")
    assert sorted(text for _, text in sections_of(frames)) == ["a0 a1 a2 ", "b0 b1 b2 "]


async def test_authors_one_after_the_other_have_a_section_each() -> None:
    """E2, E4"""
    tree = in_sequence(agent_of(counting, name="one"), agent_of(counting, name="two"))
    async with serving(tree) as url:
        frames = await stream(url, "hi")
    assert sections_of(frames) == [(DELTA, "one two three")] * 2
    assert status_texts(frames) == [("COMPLETED", "one two three")]


async def test_a_helper_and_an_event_that_stream_at_once_do_not_mix() -> None:
    """E2"""

    async def both(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "event ", partial=True)
        await reply_stream(ctx, ["hel", "per"])
        yield text_event(agent, ctx, "text", partial=True)
        yield text_event(agent, ctx, "event text")

    async with serving(agent_of(both)) as url:
        frames = await stream(url, "hi")
    assert sections_of(frames) == [(f"{DELTA}:agent", "helper"), (DELTA, "event text")]
    assert status_texts(frames) == [("COMPLETED", "helper")]


async def test_replies_that_stream_at_once_do_not_mix() -> None:
    """E2, C1"""
    turns = {name: asyncio.Event() for name in "ab"}
    turns["a"].set()

    async def chunks(name: str, other: str) -> AsyncGenerator[str, None]:
        for number in range(2):
            await turns[name].wait()
            turns[name].clear()
            yield f"{name}{number}"
            turns[other].set()

    async def both(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        await asyncio.gather(*(reply_stream(ctx, chunks(*names)) for names in ("ab", "ba")))
        yield event_of(agent, ctx)

    async with serving(agent_of(both)) as url:
        frames = await stream(url, "hi")
    assert sections_of(frames) == [(DELTA, "a0a1"), (f"{DELTA}:agent", "b0b1")]
    assert status_texts(frames) == [("WORKING", "a0a1"), ("COMPLETED", "b0b1")]


async def test_thoughts_are_not_streamed() -> None:
    """C3, E2"""

    async def thinking(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        thought = types.Part(text="hidden", thought=True)
        content = types.Content(role="model", parts=[thought])
        yield event_of(agent, ctx, content=content, partial=True)
        yield text_event(agent, ctx, "open", partial=True)
        yield text_event(agent, ctx, "open")

    async with serving(agent_of(thinking)) as url:
        frames = await stream(url, "hi")
    assert sections_of(frames) == [(DELTA, "open")]
    assert "hidden" not in str(frames)


@pytest.mark.parametrize("error", [ValueError("broken"), TaskFailed("shown")])
async def test_a_stream_that_fails_closes_its_sections_and_ends_once(error: Exception) -> None:
    """E1, F4"""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "so far", partial=True)
        raise error

    async with serving(agent_of(failing)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert sections_of(frames) == [(DELTA, "so far")]
    assert [state for state, _ in status_texts(frames)] == ["FAILED"]
    assert frames[-1].status_update.status == task.status
    assert not task.artifacts


async def test_text_in_flight_is_in_no_task() -> None:
    """E3"""
    shown = asyncio.Event()
    may_go_on = asyncio.Event()

    async def pausing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "in flight", partial=True)
        shown.set()
        await may_go_on.wait()
        yield text_event(agent, ctx, "in flight")

    async with serving(agent_of(pausing)) as url, client_of(url, streaming=True) as client:
        frames = client.send_message(request_of("hi"))
        first = await anext(frames)
        await asyncio.wait_for(shown.wait(), 10)
        meanwhile = await stored(url, first.task.id)
        may_go_on.set()
        rest = [frame async for frame in frames]
        after = await stored(url, first.task.id)
    assert not meanwhile.artifacts
    assert not after.artifacts
    assert sections_of(rest) == [(DELTA, "in flight")]


def looking() -> tuple[LlmAgent, list[str]]:
    looked: list[str] = []

    def look(where: str) -> str:
        """Looks somewhere."""
        looked.append(where)
        return "a cat"

    steps = [[text("Let me look."), call("look", call_id="1", where="box")], [text("A cat.")]]
    return LlmAgent(name="llm", model=ScriptedModel(steps=steps), tools=[look]), looked


async def test_an_llm_agent_really_streams_and_runs_its_tools_once() -> None:
    """E5, E4"""
    agent, looked = looking()
    async with serving(agent) as url:
        frames = await stream(url, "what is in the box?")
        task = await stored(url, frames[0].task.id)
    assert looked == ["box"]
    assert len(deltas_of(frames)) > len(sections_of(frames))
    assert sections_of(frames) == [(DELTA, "Let me look."), (DELTA, "A cat.")]
    assert status_texts(frames) == [("COMPLETED", "A cat.")]
    assert history_of(task) == ["what is in the box?", "A cat."]


async def test_a_blocking_call_does_not_make_the_model_stream() -> None:
    """E5"""
    modes: list[str] = []

    def note(callback_context: CallbackContext) -> None:
        assert callback_context.run_config
        modes.append(str(callback_context.run_config.streaming_mode))

    agent, looked = looking()
    agent.before_agent_callback = note
    async with serving(agent) as url:
        task = await send(url, "what is in the box?")
        await stream(url, "and now?")
    assert reply_of(task) == "A cat."
    assert looked[0] == "box"
    assert modes == ["StreamingMode.NONE", "StreamingMode.SSE"]


async def test_the_last_frame_can_be_the_whole_task() -> None:
    """E9"""
    async with serving(agent_of(counting), final_task=True) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert frames[-1].task == task
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert status_texts(frames) == []
