"""CPU per streamed chunk of a LangGraph graph over A2A, beside its parts, in one process.

The parts are the graph alone (`graph.astream`) and a native agent over A2A.
"""

import argparse
import asyncio
import json
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.graph import START, MessagesState, StateGraph

from aion_adk import to_a2a
from aion_adk.drivers.langgraph import LangGraphAgent
from benchmarks.agents import Trivial, chunks_of
from benchmarks.in_process import cpu_of


class TrivialModel(BaseChatModel):
    """Streams the chunks that the last message asks for."""

    @property
    def _llm_type(self) -> str:
        return "trivial"

    def _generate(self, *args: Any, **options: Any) -> ChatResult:
        raise NotImplementedError("this model streams only")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for text in chunks_of(messages[-1].text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=text))
            if run_manager:
                await run_manager.on_llm_new_token(text, chunk=chunk)
            yield chunk


def trivial_graph() -> Any:
    model = TrivialModel()

    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    return builder.compile()


async def measured(*, chunks: int, rounds: int) -> dict[str, float]:
    """Microseconds a chunk, the best of the rounds."""
    graph = trivial_graph()
    native = to_a2a(Trivial(name="trivial"))
    driver = to_a2a(LangGraphAgent("trivial", graph))

    async def alone() -> float:
        begin = time.process_time()
        state = {"messages": [HumanMessage(f"chunks {chunks} 0")]}
        async for _ in graph.astream(state, stream_mode="messages"):
            pass
        return time.process_time() - begin

    calls: dict[str, Callable[[], Awaitable[float]]] = {
        "graph_alone_cpu_us": alone,
        "graph_native_cpu_us": lambda: cpu_of(native, chunks=chunks),
        "graph_driver_cpu_us": lambda: cpu_of(driver, chunks=chunks),
    }
    best: dict[str, float] = {}
    async with native.running(), driver.running():
        for _ in range(rounds):
            for name, call in calls.items():
                microseconds = await call() / chunks * 1e6
                best[name] = min(microseconds, best.get(name, microseconds))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(json.dumps(asyncio.run(measured(chunks=options.chunks, rounds=options.rounds))))


if __name__ == "__main__":
    main()
