"""Interrupts of a graph as pauses of the task."""

# pyright: reportDeprecated=false
# ADK deprecates SequentialAgent and ParallelAgent, and users still have them.

import asyncio
from pathlib import Path
from typing import Any

import pytest
from a2a.types import Message, Part, Task, TaskState
from click.testing import CliRunner
from google.adk.agents import ParallelAgent, SequentialAgent
from google.adk.cli.cli_tools_click import main as adk
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from aion_adk.drivers import CallableAgent, LangGraphAgent
from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import to_plain
from tests.drivers.cases.langgraph_graphs import ChatState, graph_of
from tests.drivers.under_adk import AGENT_MODULE, shown
from tests.serving import reply_of, send, serving, stream, text_of

pytestmark = pytest.mark.filterwarnings("ignore:(Sequential|Parallel)Agent is deprecated")

INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
COMPLETED = TaskState.TASK_STATE_COMPLETED


def ask(state: ChatState) -> ChatState:
    name = interrupt("What is your name?")
    return {"messages": [AIMessage(content=f"hello {name}")]}


def calls_of(message: Message) -> list[dict[str, Any]]:
    return [to_plain(part.data) for part in message.parts if part.HasField("data")]


def answer_to(call: dict[str, Any], value: Any) -> Part:
    response = {"id": call["id"], "name": call["name"], "response": {"result": value}}
    return data_part(response, adk_type="function_response")


async def follow_up(url: str, task: Task, content: Any) -> Task:
    return await send(url, content, task_id=task.id, context_id=task.context_id)


async def test_an_interrupt_asks_and_a_plain_text_resumes_the_graph() -> None:
    """F1, F2"""
    async with serving(LangGraphAgent("ask", graph_of(ask, remembering=True))) as url:
        paused = await send(url, "hi")
        done = await follow_up(url, paused, "Ada")
    assert paused.status.state == INPUT_REQUIRED
    assert "What is your name?" in reply_of(paused)
    (call,) = calls_of(paused.status.message)
    assert call["name"] == "adk_request_input"
    assert (done.id, done.status.state, reply_of(done)) == (paused.id, COMPLETED, "hello Ada")


async def test_a_stream_ends_with_the_question_and_the_answer_streams() -> None:
    async with serving(LangGraphAgent("ask", graph_of(ask, remembering=True))) as url:
        frames = await stream(url, "hi")
        first = frames[0].task
        resumed = await stream(url, "Ada", task_id=first.id, context_id=first.context_id)
    assert frames[-1].status_update.status.state == INPUT_REQUIRED
    assert text_of(resumed[-1].status_update.status.message) == "hello Ada"


async def test_a_data_answer_reaches_the_graph_as_it_is() -> None:
    def decide(state: ChatState) -> ChatState:
        decision = interrupt({"question": "Approve?", "amount": 5})
        return {"messages": [AIMessage(content=f"{decision['approved']} {decision['note']}")]}

    async with serving(LangGraphAgent("decide", graph_of(decide, remembering=True))) as url:
        paused = await send(url, "hi")
        done = await follow_up(url, paused, [data_part({"approved": True, "note": "ok"})])
    (call,) = calls_of(paused.status.message)
    assert call["args"] == {
        "message": "Approve?",
        "payload": {"amount": 5, "question": "Approve?"},
    }
    assert reply_of(done) == "True ok"


async def test_a_node_that_asks_twice_gets_both_answers_in_order() -> None:
    def twice(state: ChatState) -> ChatState:
        first = interrupt("first?")
        second = interrupt("second?")
        return {"messages": [AIMessage(content=f"{first} then {second}")]}

    async with serving(LangGraphAgent("twice", graph_of(twice, remembering=True))) as url:
        paused = await send(url, "hi")
        again = await follow_up(url, paused, "a")
        done = await follow_up(url, again, "b")
    assert (again.status.state, "second?" in reply_of(again)) == (INPUT_REQUIRED, True)
    assert (done.status.state, reply_of(done)) == (COMPLETED, "a then b")


def two_questions() -> Any:
    def left(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content=f"left {interrupt('left?')}")]}

    def right(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content=f"right {interrupt('right?')}")]}

    def join(state: ChatState) -> ChatState:
        texts = sorted(m.text for m in state["messages"] if m.type == "ai")
        return {"messages": [AIMessage(content=", ".join(texts))]}

    builder: Any = StateGraph(ChatState)
    builder.add_node("left", left).add_node("right", right).add_node("join", join)
    builder.add_edge(START, "left").add_edge(START, "right")
    builder.add_edge(["left", "right"], "join")
    return builder


async def test_several_interrupts_are_answered_by_id() -> None:
    graph = two_questions().compile(checkpointer=InMemorySaver())
    async with serving(LangGraphAgent("several", graph)) as url:
        paused = await send(url, "hi")
        calls = {call["args"]["message"]: call for call in calls_of(paused.status.message)}
        unclear = await follow_up(url, paused, "one")
        answers = [answer_to(calls["right?"], "2"), answer_to(calls["left?"], "1")]
        done = await follow_up(url, unclear, answers)
    assert unclear.status.state == INPUT_REQUIRED
    assert reply_of(done) == "left 1, right 2"


async def test_a_graph_compiled_to_stop_before_a_node_goes_on_after_an_answer() -> None:
    def plan(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content="the plan")]}

    def act(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content="acted")]}

    graph = graph_of(plan, act, remembering=True, interrupt_before=["act"])
    async with serving(LangGraphAgent("stop", graph)) as url:
        paused = await send(url, "hi")
        done = await follow_up(url, paused, "go")
    assert paused.status.state == INPUT_REQUIRED
    assert "paused before act" in reply_of(paused)
    assert reply_of(done) == "acted"


async def test_an_interrupt_without_a_checkpointer_fails_and_names_the_cause() -> None:
    async with serving(LangGraphAgent("ask", graph_of(ask))) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert "without a checkpointer" in reply_of(task)


async def test_a_new_task_in_the_conversation_does_not_answer_the_old_question() -> None:
    async with serving(LangGraphAgent("ask", graph_of(ask, remembering=True))) as url:
        paused = await send(url, "hi", context_id="c")
        other = await send(url, "something else", context_id="c")
    assert (paused.status.state, other.status.state) == (INPUT_REQUIRED, INPUT_REQUIRED)
    assert other.id != paused.id


async def test_a_sequence_goes_on_after_the_answer_and_runs_nothing_twice() -> None:
    runs: list[str] = []

    def before(text: str) -> str:
        runs.append("before")
        return "before"

    def after(text: str) -> str:
        runs.append(f"after {text}")
        return "after"

    steps = SequentialAgent(
        name="steps",
        sub_agents=[
            CallableAgent("before", before),
            LangGraphAgent("ask", graph_of(ask, remembering=True)),
            CallableAgent("after", after),
        ],
    )
    async with serving(steps) as url:
        paused = await send(url, "hi")
        done = await follow_up(url, paused, "Ada")
    assert paused.status.state == INPUT_REQUIRED
    assert (done.status.state, reply_of(done)) == (COMPLETED, "after")
    assert runs == ["before", "after hi"]


async def test_a_parallel_neighbour_that_is_done_is_not_run_again() -> None:
    runs: list[str] = []
    both = ParallelAgent(
        name="both",
        sub_agents=[
            LangGraphAgent("ask", graph_of(ask, remembering=True)),
            CallableAgent("neighbour", runs.append),
        ],
    )
    async with serving(both) as url:
        paused = await send(url, "hi")
        done = await follow_up(url, paused, "Ada")
    assert (done.status.state, reply_of(done)) == (COMPLETED, "hello Ada")
    assert runs == ["hi"]


async def test_the_pause_is_answered_under_adk_run(tmp_path: Path) -> None:
    package = tmp_path / "asking"
    package.mkdir()
    (package / "__init__.py").write_text("from . import agent\n")
    (package / "agent.py").write_text(AGENT_MODULE)
    shown[:] = [LangGraphAgent("ask", graph_of(ask, remembering=True))]
    replay = ["run", "--session_id", "s1", "--jsonl", str(package)]
    first = await asyncio.to_thread(CliRunner().invoke, adk, [*replay, "hi"])
    second = await asyncio.to_thread(CliRunner().invoke, adk, [*replay, "Ada"])
    assert "What is your name?" in first.stdout
    assert "hello Ada" in second.stdout
