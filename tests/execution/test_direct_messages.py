"""Answers with no task around them."""

from collections.abc import AsyncGenerator
from typing import Any

from a2a.types import (
    GetTaskRequest,
    Message,
    Part,
    SendMessageConfiguration,
    StreamResponse,
    TaskState,
)
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions

from aion_adk import A2AOutbox, TaskFailed, emit_message
from tests.agents import text_event
from tests.serving import client_of, request_of, serving, text_of

COMPLETED = TaskState.TASK_STATE_COMPLETED


class Direct(BaseAgent):
    """Answers with a bare message; the text it gets names what it does before."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        parts = ctx.user_content.parts if ctx.user_content else None
        match parts[0].text if parts else "":
            case "emit":
                emit_message(ctx, "wait a moment")
            case "stream":
                yield text_event(self, ctx, "wait a moment", partial=True)
            case "fail":
                raise TaskFailed("Not today.")
            case _:
                pass
        outbox = A2AOutbox(message=Message(parts=[Part(text="pong")]), direct=True)
        actions = EventActions(state_delta={"a2a_outbox": outbox})
        yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=actions)


async def answers(
    url: str,
    text: str,
    *,
    streaming: bool = False,
    configuration: SendMessageConfiguration | None = None,
    **fields: Any,
) -> list[StreamResponse]:
    request = request_of(text, configuration=configuration, **fields)
    async with client_of(url, streaming=streaming) as client:
        return [frame async for frame in client.send_message(request)]


async def test_a_direct_message_is_the_whole_answer() -> None:
    """C6"""
    async with serving(Direct(name="direct"), direct_messages=True) as url:
        (answer,) = await answers(url, "ping")
        (streamed,) = await answers(url, "ping", streaming=True)
    for frame in (answer, streamed):
        assert text_of(frame.message) == "pong"
        assert frame.message.context_id
        assert frame.message.task_id == ""


async def test_a_repeated_request_gets_the_same_message() -> None:
    """C6, A7"""
    async with serving(Direct(name="direct"), direct_messages=True) as url:
        (first,) = await answers(url, "ping", message_id="m", context_id="c")
        (again,) = await answers(url, "ping", message_id="m", context_id="c")
    assert again.message == first.message


async def test_a_server_that_does_not_allow_it_answers_with_a_task() -> None:
    """C6"""
    async with serving(Direct(name="direct")) as url:
        (answer,) = await answers(url, "ping")
    assert answer.task.status.state == COMPLETED
    assert text_of(answer.task.status.message) == "pong"


async def test_once_something_was_sent_the_answer_is_a_task() -> None:
    """C6, E1"""
    async with serving(Direct(name="direct"), direct_messages=True) as url:
        emitted = await answers(url, "emit", streaming=True)
        streamed = await answers(url, "stream", streaming=True)
        (failed,) = await answers(url, "fail")
    for frames in (emitted, streamed):
        assert frames[0].task.status.state == TaskState.TASK_STATE_WORKING
        assert frames[-1].status_update.status.state == COMPLETED
        assert text_of(frames[-1].status_update.status.message) == "pong"
    assert failed.task.status.state == TaskState.TASK_STATE_FAILED
    assert text_of(failed.task.status.message) == "Not today."


async def test_a_caller_that_does_not_wait_gets_a_task() -> None:
    """C6, A1"""
    now = SendMessageConfiguration(return_immediately=True)
    async with serving(Direct(name="direct"), direct_messages=True) as url:
        (answer,) = await answers(url, "ping", configuration=now)
        async with client_of(url) as client:
            task = await client.get_task(GetTaskRequest(id=answer.task.id))
    assert task.id == answer.task.id


async def test_the_conversation_goes_on_after_a_direct_message() -> None:
    """C6, A6"""
    async with serving(Direct(name="direct"), direct_messages=True) as url:
        (first,) = await answers(url, "ping")
        (second,) = await answers(url, "ping", context_id=first.message.context_id)
    assert second.message.context_id == first.message.context_id
