"""The executor in a handler of a2a-sdk that somebody wired by hand."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import TaskState
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from starlette.applications import Starlette

from aion_adk import (
    ADKAgentExecutor,
    build_agent_card,
    emit_data,
    emit_message,
    inbox_of,
    reply,
    reply_stream,
)
from aion_adk.protocol.structs import to_plain
from aion_adk.storage.memory import DurableTaskStore
from tests.agents import agent_of, outbox_event, text_event
from tests.execution.failing import SECRET, SecretError, raising
from tests.serving import (
    deltas_of,
    history_of,
    listening,
    reply_of,
    send,
    status_texts,
    stored,
    stream,
)


def foreign(agent: BaseAgent, **options: Any) -> Callable[[str], Starlette]:
    """An app that a user wired by hand around the executor, with a2a-sdk's own handler."""

    def build(url: str) -> Starlette:
        runner = InMemoryRunner(agent=agent, app_name=agent.name)
        executor = ADKAgentExecutor(runner, **options)
        card = build_agent_card(agent, url=url)
        store = DurableTaskStore(InMemoryTaskStore())
        handler = DefaultRequestHandler(executor, store, card)
        return Starlette(
            routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
        )

    return build


async def test_the_executor_works_in_a_handler_wired_by_hand() -> None:
    """A1, C5, E1, E3"""

    async def busy(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert inbox_of(ctx).message.parts[0].text == "hi"
        yield text_event(agent, ctx, "strea", partial=True)
        yield text_event(agent, ctx, "ming", partial=True)
        yield text_event(agent, ctx, "streaming")
        yield text_event(agent, ctx, "again", partial=True)
        emit_message(ctx, "halfway")
        emit_data(ctx, {"row": 1}, name="rows", append=True)
        emit_data(ctx, {"row": 2}, name="rows", append=True)
        reply(ctx, "one")
        await reply_stream(ctx, ["t", "wo"])
        yield outbox_event(agent, ctx, {"metadata": {"k": 1}})

    async with listening(foreign(agent_of(busy))) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
        blocking = await send(url, "hi")
    assert deltas_of(frames) == ["strea", "ming", "again", "t", "wo"]
    assert status_texts(frames) == [
        ("WORKING", "halfway"),
        ("WORKING", "one"),
        ("COMPLETED", "two"),
    ]
    for seen in (task, blocking):
        assert history_of(seen) == ["hi", "halfway", "one"]
        assert reply_of(seen) == "two"
        [artifact] = seen.artifacts
        assert [to_plain(part.data) for part in artifact.parts] == [{"row": 1}, {"row": 2}]


@pytest.mark.parametrize("error", [SecretError(SECRET), SystemExit(1)])
async def test_a_failure_in_a_handler_wired_by_hand_shows_no_secret(error: BaseException) -> None:
    """F4"""
    async with listening(foreign(agent_of(raising(error)))) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert [state for state, _ in status_texts(frames)] == ["FAILED"]
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert SECRET not in str(frames)


async def test_a_follow_up_goes_on_in_a_handler_wired_by_hand() -> None:
    """A1, D2"""

    async def asking(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        history = inbox_of(ctx).task.history
        if len(history) == 1:
            question = {"parts": [{"text": "which?"}]}
            status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": question}
            yield outbox_event(agent, ctx, {"status": status})
        else:
            yield text_event(agent, ctx, f"{inbox_of(ctx).message.parts[0].text} it is")

    async with listening(foreign(agent_of(asking))) as url:
        first = await send(url, "hi")
        assert reply_of(first) == "which?"
        task = await send(url, "that", task_id=first.id, context_id=first.context_id)
    assert (task.id, task.status.state) == (first.id, TaskState.TASK_STATE_COMPLETED)
    assert history_of(task) == ["hi", "which?", "that"]
    assert reply_of(task) == "that it is"
