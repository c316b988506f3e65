"""What a graph outputs, and what of it is the reply."""

import asyncio
import operator
from collections.abc import AsyncIterator
from typing import Annotated, Any, cast

import pytest
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus
from langchain_core.language_models.fake_chat_models import (
    FakeListChatModel,
    GenericFakeChatModel,
)
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from aion_adk import A2AOutbox
from aion_adk.drivers import LangGraphAgent
from tests.drivers.cases.chat_models import Chunk, StreamingChatModel, answering
from tests.drivers.cases.langgraph_graphs import A2AState, ChatState, chat_graph, graph_of
from tests.serving import deltas_of, reply_of, sections_of, send, serving, stream, text_of


async def test_chunks_of_a_chat_model_stream_and_its_message_is_the_reply() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage(content="hello to you", id="ai-1")]))
    async with serving(LangGraphAgent("chat", chat_graph(model))) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == ["hello", " ", "to", " ", "you"]
    assert text_of(frames[-1].status_update.status.message) == "hello to you"


@pytest.mark.parametrize("streaming", [False, True])
async def test_two_model_calls_are_two_sections_and_the_last_is_the_reply(streaming: bool) -> None:
    """E2"""
    models = [FakeListChatModel(responses=["plan"]), FakeListChatModel(responses=["done"])]

    async def plan(state: ChatState) -> ChatState:
        return {"messages": [await models[0].ainvoke(state["messages"])]}

    async def act(state: ChatState) -> ChatState:
        return {"messages": [await models[1].ainvoke(state["messages"])]}

    async with serving(LangGraphAgent("two", graph_of(plan, act))) as url:
        if streaming:
            frames = await stream(url, "hi")
            assert sections_of(frames) == ["plan", "done"]
            reply = text_of(frames[-1].status_update.status.message)
        else:
            reply = reply_of(await send(url, "hi"))
    assert reply == "done"


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_model_call_after_the_answer_is_not_the_reply(streaming: bool) -> None:
    async def answer(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content="42")]}

    async def summarise(state: ChatState) -> dict[str, Any]:
        await answering("a summary").ainvoke("sum it up")
        return {}

    async with serving(LangGraphAgent("tail", graph_of(answer, summarise))) as url:
        if streaming:
            reply = text_of((await stream(url, "hi"))[-1].status_update.status.message)
        else:
            reply = reply_of(await send(url, "hi"))
    assert reply == "42"


async def test_a_state_without_messages_is_answered_with_what_the_model_streamed() -> None:
    class Question(TypedDict):
        input: str

    async def think(state: Question) -> Question:
        message = await answering("it is ", state["input"]).ainvoke("?")
        return {"input": message.text}

    async with serving(LangGraphAgent("free", graph_of(think, state=Question))) as url:
        frames = await stream(url, "late")
        assert reply_of(await send(url, "late")) == "it is late"
    assert deltas_of(frames) == ["it is ", "late"]


async def test_nodes_that_stream_at_the_same_time_do_not_mix() -> None:
    """E2"""
    both = asyncio.Barrier(2)

    def spelling(word: str) -> StreamingChatModel:
        async def answer(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
            for letter in word:
                await asyncio.wait_for(both.wait(), 10)
                yield letter

        return StreamingChatModel(answer=answer)

    async def left(state: ChatState) -> ChatState:
        return {"messages": [await spelling("abc").ainvoke("")]}

    async def right(state: ChatState) -> ChatState:
        return {"messages": [await spelling("xyz").ainvoke("")]}

    builder: Any = StateGraph(ChatState)
    builder.add_node("left", left).add_node("right", right)
    builder.add_edge(START, "left").add_edge(START, "right")
    async with serving(LangGraphAgent("duet", builder.compile())) as url:
        frames = await stream(url, "sing")
    assert sorted(sections_of(frames)) == ["abc", "xyz"]


async def test_content_blocks_are_kept_and_reasoning_is_left_out() -> None:
    blocks: Any = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "see"},
        {"type": "image", "url": "https://e.test/a.png", "mime_type": "image/png"},
    ]

    def show(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content=blocks)]}

    async with serving(LangGraphAgent("rich", graph_of(show))) as url:
        message = (await send(url, "hi")).status.message
    assert sorted((part.text, part.url) for part in message.parts) == [
        ("", "https://e.test/a.png"),
        ("see", ""),
    ]


async def test_the_message_of_the_state_gives_the_reply_its_id() -> None:
    def answer(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content="yes", id="ai-7")]}

    async with serving(LangGraphAgent("ids", graph_of(answer))) as url:
        task = await send(url, "hi")
        frames = await stream(url, "hi")
    assert task.status.message.message_id == "ai-7"
    assert frames[-1].status_update.status.message.message_id == "ai-7"


async def test_subgraphs_stream_too() -> None:
    inner = chat_graph(answering("from ", "inside"))
    builder: Any = StateGraph(ChatState)
    builder.add_node("inner", inner).add_edge(START, "inner")
    async with serving(LangGraphAgent("outer", builder.compile())) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == ["from ", "inside"]
    assert text_of(frames[-1].status_update.status.message) == "from inside"


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


async def test_tool_calls_and_results_are_function_calls_and_responses() -> None:
    call: Any = {"name": "add", "args": {"a": 1, "b": 2}, "id": "call-1"}

    def chat(state: ChatState) -> ChatState:
        last = state["messages"][-1]
        if last.type == "tool":
            return {"messages": [AIMessage(content=f"it is {last.text}")]}
        return {"messages": [AIMessage(content="", tool_calls=[call])]}

    builder: Any = StateGraph(ChatState)
    builder.add_node("chat", chat).add_node("tools", ToolNode([add]))
    builder.add_edge(START, "chat").add_conditional_edges("chat", tools_condition)
    builder.add_edge("tools", "chat")
    async with serving(LangGraphAgent("math", builder.compile()), tool_activity=True) as url:
        task = await send(url, "1 + 2")
    assert reply_of(task) == "it is 3"
    history = str(task.history)
    assert "call-1" in history
    assert '"add"' in history


async def test_an_outbox_message_is_the_reply() -> None:
    """C2, D1"""

    def answer(state: A2AState) -> dict[str, Any]:
        outbox = A2AOutbox(message=Message(parts=[Part(text="explicit")], task_id="mine"))
        return {"messages": [AIMessage(content="not this")], "a2a_outbox": outbox}

    async with serving(LangGraphAgent("out", graph_of(answer))) as url:
        task = await send(url, "hi")
    assert reply_of(task) == "explicit"
    assert task.status.message.task_id == task.id


async def test_an_outbox_task_patches_the_task() -> None:
    """D2"""

    def patch(state: A2AState) -> dict[str, Any]:
        status = TaskStatus(
            state=TaskState.TASK_STATE_REJECTED,
            message=Message(role=Role.ROLE_AGENT, parts=[Part(text="no")]),
        )
        task = Task(status=status)
        task.metadata["why"] = "rules"
        return {"a2a_outbox": A2AOutbox(task=task)}

    async with serving(LangGraphAgent("patch", graph_of(patch))) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (TaskState.TASK_STATE_REJECTED, "no")
    assert task.metadata["why"] == "rules"


async def test_a_wrong_outbox_fails_the_task(caplog: pytest.LogCaptureFixture) -> None:
    """C2"""

    def answer(state: A2AState) -> dict[str, Any]:
        return {"a2a_outbox": 7}

    async with serving(LangGraphAgent("out", graph_of(answer))) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert "a2a_outbox must be" in caplog.text


async def test_output_key_names_the_answer_in_the_state() -> None:
    class Sum(TypedDict):
        numbers: Annotated[list[int], operator.add]
        total: dict[str, int]

    def total(state: Sum) -> dict[str, Any]:
        return {"total": {"sum": sum(state["numbers"])}}

    graph = graph_of(total, state=Sum)
    agent = LangGraphAgent("sum", graph, parse_json_input=True, output_key="total")
    async with serving(agent) as url:
        message = (await send(url, '{"numbers": [1, 2]}')).status.message
    assert message.parts[0].data.struct_value["sum"] == 3


async def test_a_graph_of_the_functional_api_answers_too() -> None:
    @entrypoint()
    async def greet(given: dict[str, str]) -> dict[str, str]:
        message = await answering("hello ", given["input"]).ainvoke("")
        return {"answer": message.text}

    graph: Any = cast(Any, greet)
    async with serving(LangGraphAgent("greet", graph, output_key="answer")) as url:
        assert reply_of(await send(url, "ada")) == "hello ada"


def test_a_graph_that_is_not_compiled_is_refused() -> None:
    builder: Any = StateGraph(ChatState)
    with pytest.raises(TypeError, match=r"call its compile\(\) first"):
        LangGraphAgent("chat", builder)
