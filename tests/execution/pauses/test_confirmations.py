"""A tool that waits for a yes or a no, through a real client: F1 and F2."""

from typing import Any

import pytest
from a2a.types import CancelTaskRequest, Part, Task
from google.adk.tools import FunctionTool, ToolContext
from google.genai import types

from aion_adk.protocol.from_genai import data_part
from tests.models import call, text
from tests.pausing import COMPLETED, INPUT_REQUIRED, asker_of, follow_up, pending, response
from tests.serving import client_of, reply_of, send, serving


def _pay(done: list[int], *, hint: str = "") -> FunctionTool:
    def pay(amount: int, tool_context: ToolContext) -> dict[str, Any]:
        if hint and not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint=hint)
            return {"status": "waiting"}
        if hint and not (
            tool_context.tool_confirmation and tool_context.tool_confirmation.confirmed
        ):
            return {"status": "refused"}
        done.append(amount)
        return {"status": "paid"}

    return FunctionTool(pay, require_confirmation=not hint)


def paying(*amounts: int) -> list[types.Part]:
    return [call("pay", call_id=f"pay-{amount}", amount=amount) for amount in amounts]


def confirmation(task: Task, value: Any) -> Part:
    return response(pending(task)[0]["id"], value, name="adk_request_confirmation")


async def test_a_confirmation_asks_in_words_a_person_reads() -> None:
    """F1"""
    async with serving(asker_of(paying(5), tools=[_pay([])])) as url:
        task = await send(url, "pay")
    assert task.status.state == INPUT_REQUIRED
    assert reply_of(task) == "Approve pay(amount=5)?\nAnswer yes or no."
    assert [call["name"] for call in pending(task)] == ["adk_request_confirmation"]


async def test_the_hint_of_a_tool_is_part_of_the_question() -> None:
    """F1"""
    agent = asker_of(paying(5), tools=[_pay([], hint="This cannot be undone.")])
    async with serving(agent) as url:
        task = await send(url, "pay")
    assert reply_of(task) == ("This cannot be undone.\nApprove pay(amount=5)?\nAnswer yes or no.")


@pytest.mark.parametrize(
    ("answer", "paid"),
    [
        ("yes", [5]),
        ('{"confirmed": true}', [5]),
        ([data_part({"confirmed": True})], [5]),
        ("no", []),
    ],
)
async def test_a_plain_yes_or_no_decides_a_confirmation(answer: Any, paid: list[int]) -> None:
    """F2"""
    done: list[int] = []
    agent = asker_of(paying(5), [text("Done.")], tools=[_pay(done)])
    async with serving(agent) as url:
        task = await send(url, "pay")
        after = await follow_up(url, task, answer)
    assert (after.status.state, reply_of(after)) == (COMPLETED, "Done.")
    assert done == paid


MALFORMED_CONFIRMATIONS: list[Any] = [
    {},
    {"confirmed": "true"},
    {"confirmed": 1},
    {"confirmed": None},
    {"confirmed": {"confirmed": True}},
    {"confirmed": True, "sudo": True},
    {"result": {"confirmed": "yes"}},
    {"response": '{"confirmed": "yes"}'},
]


async def test_a_malformed_confirmation_is_neither_a_yes_nor_a_no() -> None:
    """F2"""
    done: list[int] = []
    agent = asker_of(paying(5), [text("Done.")], tools=[_pay(done)])
    async with serving(agent) as url:
        task = await send(url, "pay")
        for value in MALFORMED_CONFIRMATIONS:
            refused = await follow_up(url, task, [confirmation(task, value)])
            assert (refused.status.state, done) == (INPUT_REQUIRED, [])
            assert reply_of(refused).startswith("Not an answer.\nApprove pay(amount=5)?")
        refused = await follow_up(url, task, "sure, why not")
        assert refused.status.state == INPUT_REQUIRED
        after = await follow_up(url, task, [confirmation(task, {"confirmed": True})])
    assert after.status.state == COMPLETED
    assert done == [5]


async def test_confirmations_are_decided_one_by_one_and_run_together() -> None:
    """F2"""
    done: list[int] = []
    agent = asker_of(paying(5, 7), [text("Done.")], tools=[_pay(done)])
    async with serving(agent) as url:
        task = await send(url, "pay")
        partial = await follow_up(url, task, [confirmation(task, {"confirmed": False})])
        assert done == []
        after = await follow_up(url, partial, "yes")
    assert after.status.state == COMPLETED
    assert done == [7]


async def test_a_canceled_confirmation_never_runs_the_tool() -> None:
    """F3"""
    done: list[int] = []
    agent = asker_of(paying(5), [text("Something else.")], tools=[_pay(done)])
    async with serving(agent) as url:
        task = await send(url, "pay")
        async with client_of(url) as client:
            await client.cancel_task(CancelTaskRequest(id=task.id))
        with pytest.raises(Exception, match="is over"):
            await follow_up(url, task, "yes")
        after = await send(url, "hello", context_id=task.context_id)
    assert (after.status.state, done) == (COMPLETED, [])


async def test_another_task_of_the_context_leaves_the_waiting_one_alone() -> None:
    """F2"""
    done: list[int] = []
    agent = asker_of(paying(5), [text("It is noon.")], [text("Paid.")], tools=[_pay(done)])
    async with serving(agent) as url:
        task = await send(url, "pay")
        other = await send(url, "what time is it?", context_id=task.context_id)
        after = await follow_up(url, task, "yes")
    assert (other.status.state, reply_of(other)) == (COMPLETED, "It is noon.")
    assert (after.status.state, reply_of(after), done) == (COMPLETED, "Paid.", [5])
