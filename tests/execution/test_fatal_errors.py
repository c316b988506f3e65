import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from a2a.types import TaskState
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from tests.agents import agent_of, in_sequence, text_event
from tests.execution.failing import FIXED, echoing
from tests.models import ScriptedModel, call, text
from tests.serving import reply_of, send, serving, status_texts, stream


class Unstoppable(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Unstoppable(), asyncio.CancelledError()],
)
async def test_no_way_of_raising_takes_the_server_down(error: BaseException) -> None:
    """F4, E1: each stream ends in one status and the next request is served."""

    async def failing_once(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if len(ctx.session.events) == 1:
            raise error
        yield text_event(agent, ctx, "still here")

    async with serving(agent_of(failing_once)) as url:
        frames = await stream(url, "hi", context_id="c1")
        task = await send(url, "hi", context_id="c1")
    [(state, text)] = status_texts(frames)
    assert state == "FAILED"
    assert text.startswith(FIXED)
    assert reply_of(task) == "still here"


async def test_sys_exit_in_a_sub_agent_fails_its_task_alone() -> None:
    """F4"""

    async def leaving(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "bye", partial=True)
        sys.exit(1)

    tree = in_sequence(agent_of(echoing, name="one"), agent_of(leaving, name="two"))
    async with serving(tree) as url:
        tasks = [await send(url, "hi") for _ in range(2)]
    assert [task.status.state for task in tasks] == [TaskState.TASK_STATE_FAILED] * 2


async def leave() -> str:
    """Leaves."""
    sys.exit(1)


def leave_in_a_thread() -> str:
    """Leaves."""
    sys.exit(1)


@pytest.mark.parametrize("tool", [leave, leave_in_a_thread])
async def test_sys_exit_in_a_tool_fails_its_task_alone(tool: Callable[[], Any]) -> None:
    """F4: ADK runs each tool in a task of its own, where asyncio would stop the loop."""
    model = ScriptedModel(steps=[[call(tool.__name__, call_id="c1")], [text("still here")]])
    async with serving(LlmAgent(name="agent", model=model, tools=[tool])) as url:
        frames = await stream(url, "hi")
        task = await send(url, "hi")
    [(state, words)] = status_texts(frames)
    assert (state, words.startswith(FIXED)) == ("FAILED", True)
    assert reply_of(task) == "still here"


async def test_a_task_that_an_agent_cancels_before_it_starts_warns_of_nothing(
    recwarn: pytest.WarningsRecorder,
) -> None:
    async def hasty(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        unneeded = asyncio.create_task(asyncio.sleep(60))
        unneeded.cancel()
        await asyncio.wait({unneeded})
        yield text_event(agent, ctx, "done")

    async with serving(agent_of(hasty)) as url:
        assert reply_of(await send(url, "hi")) == "done"
    gc.collect()
    assert not [each for each in recwarn if "never awaited" in str(each.message)]
