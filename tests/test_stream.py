from collections.abc import AsyncGenerator

from a2a.types import TaskState
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from tests.agents import said
from tests.serving import deltas_of, reply_of, send, serving, stream


class Counting(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for word in ("one ", "two ", "three"):
            yield said(self, ctx, word, partial=True)
        yield said(self, ctx, "one two three")


async def test_partial_text_streams_once_and_the_final_event_ends_its_section() -> None:
    """E2, E4"""
    async with serving(Counting(name="counting")) as url:
        frames = await stream(url, "count")
    updates = [frame.artifact_update for frame in frames if frame.HasField("artifact_update")]
    assert deltas_of(frames) == ["one ", "two ", "three"]
    assert [(update.append, update.last_chunk) for update in updates] == [
        (False, False),
        (True, False),
        (True, False),
        (True, True),
    ]


async def test_a_blocking_call_is_answered_with_the_finished_task() -> None:
    """A1"""
    async with serving(Counting(name="counting")) as url:
        task = await send(url, "count")
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert reply_of(task) == "one two three"
