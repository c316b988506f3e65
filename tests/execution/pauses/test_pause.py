"""A task that waits for its caller, through a real client: F1 and F2."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.types import CancelTaskRequest, TaskState
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.adk.sessions import InMemorySessionService
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.genai import types

from aion_adk import reply
from aion_adk.protocol.from_genai import data_part
from tests.models import call, text
from tests.pausing import (
    COMPLETED,
    INPUT_REQUIRED,
    asker_of,
    calls_to_boss,
    follow_up,
    last_responses,
    model_of,
    pending,
    response,
)
from tests.serving import client_of, deltas_of, history_of, reply_of, send, serving, stream


async def test_a_pending_call_is_a_question_in_text_and_a_call_in_data() -> None:
    """F1"""
    agent = asker_of([text("Let me ask."), *calls_to_boss("budget")])
    async with serving(agent) as url:
        task = await send(url, "may I?")
    assert task.status.state == INPUT_REQUIRED
    assert reply_of(task) == "Let me ask.Answer with text or JSON."
    assert pending(task) == [{"id": "ask-budget", "name": "ask_boss", "args": {"topic": "budget"}}]


async def test_a_call_without_words_of_the_agent_is_described() -> None:
    """F1"""
    async with serving(asker_of(calls_to_boss("budget"))) as url:
        task = await send(url, "may I?")
    assert reply_of(task) == (
        'ask_boss(topic="budget") is waiting for its result.\nAnswer with text or JSON.'
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([response("ask-budget", {"granted": 5})], {"granted": 5}),
        ("take 5", {"result": "take 5"}),
        ('{"granted": 5}', {"granted": 5}),
        ([data_part({"granted": 5})], {"granted": 5}),
    ],
)
async def test_the_follow_up_answers_the_call_and_the_task_goes_on(
    answer: Any, expected: dict[str, Any]
) -> None:
    """F2"""
    agent = asker_of(calls_to_boss("budget"), [text("Thank you.")])
    async with serving(agent) as url:
        task = await send(url, "may I?")
        done = await follow_up(url, task, answer)
    assert (done.id, done.status.state, reply_of(done)) == (task.id, COMPLETED, "Thank you.")
    assert last_responses(agent) == [expected]


async def test_a_streamed_pause_and_resume() -> None:
    """F1, F2, E1"""
    agent = asker_of([text("Let me ask."), *calls_to_boss("budget")], [text("Thank you.")])
    async with serving(agent) as url:
        first = await stream(url, "may I?")
        task_id = first[0].task.id
        second = await stream(url, "yes", task_id=task_id)
    assert first[-1].status_update.status.state == INPUT_REQUIRED
    assert deltas_of(first) == ["Let m", "e ask."]
    assert second[0].task.status.state == TaskState.TASK_STATE_WORKING
    assert deltas_of(second) == ["Thank", " you."]
    assert second[-1].status_update.status.state == COMPLETED


async def test_the_same_invocation_goes_on() -> None:
    """F2"""
    sessions = InMemorySessionService()
    agent = asker_of(calls_to_boss("budget"), [text("Thank you.")])
    async with serving(agent, session_service=sessions) as url:
        task = await send(url, "may I?")
        await follow_up(url, task, "yes")
    session = await sessions.get_session(
        app_name="asker", user_id=f"A2A_USER_{task.context_id}", session_id=task.context_id
    )
    assert session
    assert len({event.invocation_id for event in session.events}) == 1


async def test_an_intermediate_result_leaves_the_call_pending() -> None:
    """F1"""

    def order(item: str) -> dict[str, str]:
        return {"status": "ordered"}

    agent = asker_of(
        [call("order", call_id="order-1", item="pen")],
        [text("It is on its way.")],
        [text("It is here.")],
        tools=[LongRunningFunctionTool(order)],
    )
    async with serving(agent) as url:
        task = await send(url, "a pen please")
        done = await follow_up(url, task, "delivered")
    assert task.status.state == INPUT_REQUIRED
    assert reply_of(task).startswith("It is on its way.")
    assert (done.status.state, reply_of(done)) == (COMPLETED, "It is here.")
    assert last_responses(agent) == [{"result": "delivered"}]


async def test_a_second_pause_after_the_first() -> None:
    """F2"""
    agent = asker_of(calls_to_boss("budget"), calls_to_boss("date"), [text("All set.")])
    async with serving(agent) as url:
        first = await send(url, "plan it")
        second = await follow_up(url, first, "5000")
        done = await follow_up(url, second, "May")
    assert [call["id"] for call in pending(second)] == ["ask-date"]
    assert (done.id, done.status.state, reply_of(done)) == (first.id, COMPLETED, "All set.")
    assert last_responses(agent) == [{"result": "5000"}, {"result": "May"}]


async def test_several_calls_are_answered_by_id_in_one_message() -> None:
    """F2"""
    agent = asker_of(calls_to_boss("budget", "date"), [text("All set.")])
    async with serving(agent) as url:
        task = await send(url, "plan it")
        done = await follow_up(url, task, json.dumps({"ask-date": "May", "ask-budget": {"n": 5}}))
    assert [call["id"] for call in pending(task)] == ["ask-budget", "ask-date"]
    assert "ask-budget" in reply_of(task)
    assert done.status.state == COMPLETED
    assert last_responses(agent) == [{"n": 5}, {"result": "May"}]


async def test_a_partial_answer_is_held_until_the_rest_has_come() -> None:
    """F2"""
    agent = asker_of(calls_to_boss("budget", "date"), [text("All set.")])
    async with serving(agent) as url:
        task = await send(url, "plan it")
        partial = await follow_up(url, task, [response("ask-date", {"month": "May"})])
        runs = len(model_of(agent).requests)
        done = await follow_up(url, partial, "5000")
    assert partial.status.state == INPUT_REQUIRED
    assert reply_of(partial).startswith("1 of 2 answers received.")
    assert [call["id"] for call in pending(partial)] == ["ask-budget"]
    assert runs == 1
    assert done.status.state == COMPLETED
    assert last_responses(agent) == [{"result": "5000"}, {"month": "May"}]


@pytest.mark.parametrize(
    ("answer", "remark"),
    [
        ("yes", "The answer does not say which call it is for."),
        ([response("ask-nobody", {})], "No pending call has the id ask-nobody."),
        ([data_part({"ask-nobody": 1})], "The answer does not say which call it is for."),
    ],
)
async def test_an_answer_that_fits_no_call_leaves_the_task_waiting(
    answer: Any, remark: str
) -> None:
    """F2"""
    agent = asker_of(calls_to_boss("budget", "date"), [text("All set.")])
    async with serving(agent) as url:
        task = await send(url, "plan it")
        refused = await follow_up(url, task, answer)
        runs = len(model_of(agent).requests)
        done = await follow_up(url, task, [data_part({"ask-budget": 1, "ask-date": 2})])
    assert refused.status.state == INPUT_REQUIRED
    assert reply_of(refused).startswith(remark)
    assert pending(refused) == pending(task)
    assert runs == 1
    assert done.status.state == COMPLETED


async def test_a_function_response_nobody_waits_for_is_refused() -> None:
    """F2"""
    agent = asker_of([text("Hello.")])
    async with serving(agent) as url:
        with pytest.raises(Exception, match="No call of this task waits"):
            await send(url, [response("ask-budget", {})])
    assert model_of(agent).requests == []


async def test_a_canceled_question_does_not_stay_in_the_conversation() -> None:
    """F2, F3"""
    agent = asker_of(calls_to_boss("budget"), [text("Something else.")])
    async with serving(agent) as url:
        task = await send(url, "may I?")
        async with client_of(url) as client:
            canceled = await client.cancel_task(CancelTaskRequest(id=task.id))
        after = await send(url, "then hello", context_id=task.context_id)
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED
    assert (after.status.state, reply_of(after)) == (COMPLETED, "Something else.")
    assert last_responses(agent) == [{"error": "The caller canceled the request."}]


def note(tool_context: ToolContext) -> None:
    """Sends a reply and waits."""
    reply(tool_context, "Noted.")


async def test_a_reply_beside_a_question_comes_before_it() -> None:
    """F1, C1, C5"""
    agent = asker_of(
        [call("note", call_id="n1")], [text("Done.")], tools=[LongRunningFunctionTool(note)]
    )
    async with serving(agent, reply_as="artifact") as url:
        task = await send(url, "go")
        done = await follow_up(url, task, "on with it")
    assert (task.status.state, len(task.artifacts)) == (INPUT_REQUIRED, 0)
    assert history_of(task)[1:] == ["Noted.", reply_of(task)]
    assert [item["id"] for item in pending(task)] == ["n1"]
    assert [part.text for part in done.artifacts[0].parts] == ["Done."]


class GivesUp(BaseAgent):
    """Asks, and then ends the task all the same."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            content=types.Content(role="model", parts=calls_to_boss("budget")),
            long_running_tool_ids={"ask-budget"},
            actions=EventActions(
                state_delta={"a2a_outbox": {"status": {"state": "TASK_STATE_REJECTED"}}}
            ),
        )


async def test_an_agent_that_rejects_the_task_asks_nothing() -> None:
    """F1, D2"""
    async with serving(GivesUp(name="gives_up")) as url:
        task = await send(url, "go")
    assert task.status.state == TaskState.TASK_STATE_REJECTED
    assert pending(task) == []
