"""The agent that every client in these tests calls; the first word decides what it does."""

import asyncio
from collections.abc import AsyncGenerator

from a2a.types import Message, Part, Task, TaskState, TaskStatus
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions

from aion_adk import A2AOutbox, emit_file, emit_message, inbox_of, reply
from tests.agents import text_event


class Storyteller(BaseAgent):
    """echo, files, count, wait, ask; a follow-up to `ask` is answered."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        message = inbox_of(ctx).message
        text = message.parts[0].text
        match text.split(" ")[0]:
            case "files":
                emit_file(ctx, data=b"made here", mime_type="text/plain", name="made.txt")
                emit_file(ctx, url="https://files.example/a.png", mime_type="image/png")
                reply(ctx, message.parts)
            case "count":
                for word in ("one ", "two ", "three"):
                    yield text_event(self, ctx, word, partial=True)
                yield text_event(self, ctx, "one two three")
            case "wait":
                emit_message(ctx, "waiting")
                await asyncio.Event().wait()
            case "ask":
                yield self._asking(ctx)
            case _:
                reply(ctx, f"You said: {text}")

    def _asking(self, ctx: InvocationContext) -> Event:
        question = Message(parts=[Part(text="Which colour?")])
        status = TaskStatus(state=TaskState.TASK_STATE_INPUT_REQUIRED, message=question)
        return Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(state_delta={"a2a_outbox": A2AOutbox(task=Task(status=status))}),
        )
