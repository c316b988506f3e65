"""What a graph remembers between turns, and what it is given."""

from typing import Any

from a2a.types import Message, Part
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import StateSnapshot

from aion_adk import A2AOutbox
from aion_adk.drivers import LangGraphAgent
from aion_adk.drivers.langgraph import AionContext, GraphInbox
from aion_adk.protocol.from_genai import data_part
from tests.drivers.cases.langgraph_graphs import A2AState, ChatState, graph_of
from tests.serving import reply_of, send, serving


def transcript(messages: list[BaseMessage]) -> str:
    return " | ".join(f"{message.type}: {message.text}" for message in messages)


async def only_state(graph: Any) -> StateSnapshot:
    """The state of the only conversation that the graph has had."""
    (thread_id,) = graph.checkpointer.storage
    return await graph.aget_state({"configurable": {"thread_id": thread_id}})


def count(state: ChatState) -> ChatState:
    return {"messages": [AIMessage(content=f"{len(state['messages'])} messages")]}


def recite(state: ChatState) -> ChatState:
    return {"messages": [AIMessage(content=transcript(state["messages"]))]}


async def test_with_a_checkpointer_the_graph_remembers() -> None:
    async with serving(LangGraphAgent("memory", graph_of(count, remembering=True))) as url:
        first = await send(url, "one", context_id="c")
        second = await send(url, "two", context_id="c")
        other = await send(url, "one", context_id="d")
    assert [reply_of(task) for task in (first, second, other)] == [
        "1 messages",
        "3 messages",
        "1 messages",
    ]


async def test_without_a_checkpointer_the_session_remembers() -> None:
    async with serving(LangGraphAgent("memory", graph_of(count, recite))) as url:
        await send(url, "one", context_id="c")
        task = await send(url, "two", context_id="c")
    earlier = "human: one | ai: 1 messages"
    assert reply_of(task) == f"human: one | ai: {earlier} | human: two | ai: 3 messages"


async def test_the_text_parts_are_one_message_with_the_callers_id() -> None:
    graph = graph_of(recite, remembering=True)
    async with serving(LangGraphAgent("ids", graph)) as url:
        parts = [Part(text="a"), data_part({"n": 1}), Part(text="b")]
        task = await send(url, parts, context_id="c", message_id="m-1")
    state = await only_state(graph)
    assert reply_of(task) == "human: a\nb"
    assert state.values["messages"][0].id == "m-1"


async def test_a_message_id_is_appended_once() -> None:
    """A7: also where the seen messages do not hold it, as after a restart."""
    graph = graph_of(count, remembering=True)
    for _ in range(2):
        async with serving(LangGraphAgent("once", graph)) as url:
            await send(url, "hi", context_id="c", message_id="m-1")
    state = await only_state(graph)
    assert [message.id for message in state.values["messages"]].count("m-1") == 1


async def test_the_inbox_is_in_the_state_and_survives_a_checkpoint() -> None:
    def look(state: A2AState) -> dict[str, Any]:
        inbox = state["a2a_inbox"]
        assert inbox is not None
        kinds = [part.WhichOneof("content") for part in inbox.message.parts]
        seen = f"{inbox.task.context_id} {kinds} {inbox.metadata}"
        return {"messages": [AIMessage(content=seen)]}

    async with serving(LangGraphAgent("look", graph_of(look, remembering=True))) as url:
        parts = [Part(text="a"), Part(url="https://e.test/x")]
        fields = {"context_id": "c", "metadata": {"network": "slack"}}
        tasks = [await send(url, parts, **fields) for _ in range(2)]
    expected = "c ['text', 'url'] {'network': 'slack'}"
    assert [reply_of(task) for task in tasks] == [expected, expected]


async def test_the_runtime_context_holds_message_thread_event_inbox_and_agent() -> None:
    def look(state: ChatState, runtime: Runtime[AionContext]) -> ChatState:
        context = runtime.context
        assert context.message is not None
        assert context.inbox is not None
        seen = [
            context.message.text,
            context.thread.id,
            context.event.kind,
            context.inbox.message.message_id,
            context.self.name,
        ]
        return {"messages": [AIMessage(content=" ".join(seen))]}

    async with serving(LangGraphAgent("look", graph_of(look))) as url:
        fields = {"context_id": "c", "message_id": "m"}
        plain = await send(url, "hi", **fields)
        reaction = await send(
            url, "hi", metadata={"event": {"kind": "reaction", "emoji": "+1"}}, context_id="d"
        )
    assert reply_of(plain) == "hi c message m look"
    assert reply_of(reaction).split()[:3] == ["hi", "d", "reaction"]


def answer_first(state: A2AState) -> dict[str, Any]:
    humans = [message for message in state["messages"] if message.type == "human"]
    if len(humans) == 1:
        message = Message(message_id="out-1", parts=[Part(text="from the outbox")])
        return {"a2a_outbox": A2AOutbox(message=message)}
    return {"messages": [AIMessage(content=transcript(state["messages"]))]}


async def test_an_outbox_of_an_earlier_turn_is_not_sent_again_and_was_remembered() -> None:
    graph = graph_of(answer_first, remembering=True)
    async with serving(LangGraphAgent("once", graph)) as url:
        first = await send(url, "one", context_id="c")
        second = await send(url, "two", context_id="c")
    assert reply_of(first) == "from the outbox"
    assert first.status.message.message_id == "out-1"
    assert reply_of(second) == "human: one | ai: from the outbox | human: two"


async def test_an_outbox_is_remembered_without_a_checkpointer_too() -> None:
    async with serving(LangGraphAgent("once", graph_of(answer_first))) as url:
        await send(url, "one", context_id="c")
        second = await send(url, "two", context_id="c")
    assert reply_of(second) == "human: one | ai: from the outbox | human: two"


async def test_the_input_pipeline_takes_mapper_then_json_then_key() -> None:
    class State(ChatState):
        topic: str
        tone: str

    def write(state: State) -> ChatState:
        topic, tone = state.get("topic"), state.get("tone")
        return {"messages": [AIMessage(content=f"{topic} {tone}")]}

    graph = graph_of(write, state=State)
    fixed = {"tone": "dry"}
    mapped = LangGraphAgent(
        "mapped", graph, input_mapper=lambda text, _: {"topic": text.upper()}, default_inputs=fixed
    )
    parsed = LangGraphAgent("parsed", graph, parse_json_input=True, default_inputs=fixed)
    keyed = LangGraphAgent("keyed", graph, input_key="topic")
    async with serving(mapped) as url:
        assert reply_of(await send(url, "cats")) == "CATS dry"
    async with serving(parsed) as url:
        assert reply_of(await send(url, '{"topic": "dogs", "tone": "loud"}')) == "dogs dry"
    async with serving(keyed) as url:
        assert reply_of(await send(url, "cows")) == "cows None"


async def test_a_mapper_that_fails_fails_the_task_without_showing_why() -> None:
    def broken(text: str, context_id: str) -> Any:
        raise KeyError("secret")

    agent = LangGraphAgent("broken", graph_of(count), input_mapper=broken)
    async with serving(agent) as url:
        task = await send(url, "hi")
    assert reply_of(task).startswith("The request could not be completed.")


async def test_a_mapper_may_give_messages() -> None:
    async def mapper(text: str, context_id: str) -> Any:
        return {"messages": [HumanMessage(f"<{text}>")]}

    agent = LangGraphAgent("mapped", graph_of(recite), input_mapper=mapper)
    async with serving(agent) as url:
        assert reply_of(await send(url, "hi")) == "human: <hi>"


def test_what_a_checkpoint_names_stays_where_it_was() -> None:
    assert (GraphInbox.__module__, A2AOutbox.__module__) == (
        "aion_adk.drivers.langgraph.context",
        "aion_adk.context.outbox",
    )
