"""Small graphs around a chat model or a node."""

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph, add_messages
from typing_extensions import TypedDict

from aion_adk import A2AOutbox
from aion_adk.drivers.langgraph import AionContext, GraphInbox
from aion_adk.drivers.langgraph.agent import Graph


class ChatState(TypedDict):
    messages: Annotated[list[BaseMessage], add_messages]


class A2AState(ChatState):
    a2a_inbox: GraphInbox | None
    a2a_outbox: A2AOutbox | None


def graph_of(
    *nodes: Callable[..., Any], state: Any = A2AState, remembering: bool = False, **options: Any
) -> Graph:
    """The nodes one after the other, with AionContext as the context."""
    builder: Any = StateGraph(state, context_schema=AionContext)
    previous = START
    for node in nodes:
        builder.add_node(node.__name__, node)
        builder.add_edge(previous, node.__name__)
        previous = node.__name__
    return builder.compile(checkpointer=InMemorySaver() if remembering else None, **options)


def chat_graph(model: BaseChatModel, *, remembering: bool = False) -> Graph:
    async def chat(state: ChatState) -> ChatState:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return graph_of(chat, state=ChatState, remembering=remembering)
