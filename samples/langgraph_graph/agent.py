"""A LangGraph graph as an agent: it emits an artifact, asks before it books, and remembers.

"book a table" pauses the task until somebody answers; everything else is answered at once.
"""

from typing import Annotated, Any

from google.adk.apps import App

from aion_adk import A2ABridgePlugin
from aion_adk.drivers import CallableAgent

NAME = "langgraph_graph"

try:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, StateGraph, add_messages
    from langgraph.types import StreamWriter, interrupt
    from typing_extensions import TypedDict

    from aion_adk.drivers.langgraph import LangGraphAgent, emit_data
except ImportError:
    root_agent = CallableAgent(
        NAME, lambda text: "This sample needs LangGraph: pip install 'aion-adk[langgraph]'"
    )
else:

    class State(TypedDict):
        messages: Annotated[list[BaseMessage], add_messages]

    async def chat(state: State) -> State:
        model = FakeListChatModel(responses=["I can book a table for you."], sleep=0.01)
        return {"messages": [await model.ainvoke(state["messages"])]}

    def book(state: State, writer: StreamWriter) -> State:
        guests = interrupt("For how many?")
        emit_data(writer, {"guests": guests, "table": 7}, name="booking")
        return {"messages": [AIMessage(content=f"Table 7 is booked for {guests}.")]}

    def route(state: State) -> str:
        return "book" if "book" in state["messages"][-1].text.lower() else "chat"

    builder: Any = StateGraph(State)
    builder.add_node("chat", chat).add_node("book", book)
    builder.add_conditional_edges(START, route, ["chat", "book"])
    graph = builder.compile(checkpointer=InMemorySaver())
    root_agent = LangGraphAgent(NAME, graph, description="Books a table, and asks for how many.")

app = App(name=NAME, root_agent=root_agent, plugins=[A2ABridgePlugin()])
