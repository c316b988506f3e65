"""The agent that A2A test kits drive: the prefix of the message's id decides what it does."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from a2a.server.context import ServerCallContext
from a2a.types import AgentCard, Artifact, Message, Part, Task, TaskState, TaskStatus
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event, EventActions

from aion_adk import (
    A2ABridgePlugin,
    A2AOutbox,
    ServerOptions,
    TaskRejected,
    emit_artifact,
    emit_file,
    emit_message,
    inbox_of,
    reply,
)

Act = Callable[[InvocationContext], Awaitable[A2AOutbox | None]]

OUTPUT = b"Generated file content\n"


def replies(text: str) -> Act:
    async def act(ctx: InvocationContext) -> None:
        reply(ctx, text)

    return act


def has(part: Part) -> Act:
    """Ends with one artifact, put there by a task patch."""

    async def act(_: InvocationContext) -> A2AOutbox:
        artifact = Artifact(artifact_id="output", name="output", parts=[part])
        return A2AOutbox(task=Task(artifacts=[artifact]))

    return act


def streams(*chunks: str) -> Act:
    """One text artifact, a chunk at a time."""

    async def act(ctx: InvocationContext) -> None:
        for index, chunk in enumerate(chunks):
            last = index == len(chunks) - 1
            emit_artifact(ctx, chunk, name="output", append=index > 0, last_chunk=last)

    return act


def asks(*, after: float = 0, state: TaskState = TaskState.TASK_STATE_INPUT_REQUIRED) -> Act:
    async def act(ctx: InvocationContext) -> A2AOutbox:
        if after:
            emit_message(ctx, "Working on it.")
            await asyncio.sleep(after)
        question = Message(parts=[Part(text="What else should I know?")])
        status = TaskStatus(state=state, message=question)
        return A2AOutbox(task=Task(status=status))

    return act


def works(*, seconds: float) -> Act:
    async def act(ctx: InvocationContext) -> None:
        emit_message(ctx, "Working on it.")
        await asyncio.sleep(seconds)
        reply(ctx, "Done.")

    return act


async def streams_file(ctx: InvocationContext) -> None:
    emit_file(ctx, data=OUTPUT, mime_type="text/plain", name="output.txt")


async def rejects(_: InvocationContext) -> None:
    raise TaskRejected("This agent does not take this task.")


async def answers_directly(_: InvocationContext) -> A2AOutbox:
    message = Message(parts=[Part(text="Direct message response")])
    return A2AOutbox(message=message, direct=True)


def data(**values: str | int) -> Part:
    part = Part()
    part.data.struct_value.update(values)
    return part


ACTS: dict[str, Act] = {
    "tck-complete-task": replies("Hello from TCK"),
    "tck-delayed-complete": works(seconds=1),
    "tck-input-required": asks(),
    "tck-auth-required": asks(state=TaskState.TASK_STATE_AUTH_REQUIRED),
    "tck-artifact-text": has(Part(text="Generated text content")),
    "tck-artifact-file-url": has(
        Part(url="https://example.com/output.txt", filename="output.txt", media_type="text/plain")
    ),
    "tck-artifact-file": has(Part(raw=OUTPUT, filename="output.txt", media_type="text/plain")),
    "tck-artifact-data": has(data(key="value", count=42)),
    "tck-message-response": answers_directly,
    "tck-stream-001": streams("Stream hello from TCK"),
    "tck-stream-002": replies("Streamed."),
    "tck-stream-003": streams("Stream task lifecycle"),
    "tck-stream-ordering-001": streams("Ordered output"),
    "tck-stream-artifact-text": streams("Streamed text content"),
    "tck-stream-artifact-file": streams_file,
    "tck-stream-artifact-chunked": streams("chunk-1 ", "chunk-2"),
    "tck-reject-task": rejects,
    "tck-": replies("Hello from TCK"),
    "test-resubscribe-message-id": works(seconds=4),
    "": asks(after=1),
}


def act_for(message_id: str) -> Act:
    """The act of the longest prefix that fits."""
    return ACTS[max(filter(message_id.startswith, ACTS), key=len)]


class ConformanceAgent(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        outbox = await act_for(inbox_of(ctx).message.message_id)(ctx)
        delta = {"a2a_outbox": outbox} if outbox else {}
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(state_delta=delta),
        )


root_agent = ConformanceAgent(
    name="conformance",
    description="Does what the id of a message asks for; made for A2A test kits.",
)
app = App(name="conformance", root_agent=root_agent, plugins=[A2ABridgePlugin()])


def extended_card(card: AgentCard, _: ServerCallContext) -> AgentCard:
    extended = AgentCard()
    extended.CopyFrom(card)
    extended.description = f"{card.description} This is the extended card."
    return extended


a2a_options = ServerOptions(
    # Kits look for names with underscores in everything, free metadata too.
    canonical_types=False,
    direct_messages=True,
    extended_card=extended_card,
    list_grpc=True,
    # Test kits receive notifications on the machine they run on.
    push_private_urls=True,
)
"""What `aion-adk serve` adds to its own options."""
