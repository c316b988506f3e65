"""What an `Acting` agent does: it echoes, asks back, or waits until a test sets `go`."""

import asyncio
from collections.abc import AsyncGenerator

from a2a.types import Task, TaskState
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox
from tests.agents import text_event
from tests.handling import Acting


def user_text(ctx: InvocationContext) -> str:
    parts = (ctx.user_content.parts or []) if ctx.user_content else []
    return "".join(part.text or "" for part in parts)


async def echo(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield text_event(agent, ctx, f"you said {user_text(ctx)}")


class Held:
    """An agent that reports that it has begun and waits until `go` is set."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.stopped: list[str] = []
        self.begin = asyncio.Condition()
        self.go = asyncio.Event()

    async def act(self, agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        text = user_text(ctx)
        yield text_event(agent, ctx, "a", partial=True)
        yield text_event(agent, ctx, "b", partial=True)
        async with self.begin:
            self.began.append(text)
            self.begin.notify_all()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.stopped.append(text)
            raise
        yield text_event(agent, ctx, "c", partial=True)
        yield text_event(agent, ctx, "abc")

    async def has_begun(self, *texts: str) -> None:
        async with asyncio.timeout(10), self.begin:
            await self.begin.wait_for(lambda: set(texts) <= set(self.began))


async def asks_back(agent: Acting, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    if user_text(ctx) == "done":
        yield text_event(agent, ctx, "thanks")
        return
    question = Task()
    question.status.state = TaskState.TASK_STATE_INPUT_REQUIRED
    event = text_event(agent, ctx, "more?")
    event.actions.state_delta[OUTBOX_KEY] = A2AOutbox(task=question)
    yield event
