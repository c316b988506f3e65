"""The table of docs/drivers/langgraph.md, measured: each row is asked of three servers."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from a2a.types import StreamResponse, Task, TaskState
from google.adk.agents.langgraph_agent import LangGraphAgent as AdkLangGraphAgent
from langchain_core.messages import AIMessage
from langgraph.types import StreamWriter, interrupt
from starlette.types import ASGIApp

from aion_adk import A2AOutbox, to_a2a
from aion_adk.drivers import LangGraphAgent
from aion_adk.drivers.langgraph import emit_file
from aion_adk.drivers.langgraph.agent import Graph
from aion_adk.protocol.from_genai import text_message
from tests.drivers.cases.chat_models import answering, counting
from tests.drivers.cases.langgraph_graphs import A2AState, ChatState, chat_graph, graph_of
from tests.paths import ROOT
from tests.serving import deltas_of, listening, send, stream, text_of

a2a_adapter: Any = pytest.importorskip("a2a_adapter", reason="pip install a2a-adapter to compare")

Serve = Callable[[Graph, str], ASGIApp]
Ask = Callable[[Serve], Awaitable[str]]

SECRET = "password=hunter2"


def ours(graph: Graph, url: str) -> ASGIApp:
    return to_a2a(LangGraphAgent("graph", graph), public_url=url)


def adks(graph: Graph, url: str) -> ASGIApp:
    return to_a2a(AdkLangGraphAgent(name="graph", graph=cast(Any, graph)), public_url=url)


def adapters(graph: Graph, url: str) -> ASGIApp:
    adapter = a2a_adapter.LangGraphAdapter(graph=graph, name="graph")
    return a2a_adapter.to_a2a(adapter, url=url)


def answer_of(task: Task) -> str:
    """The state and the text, wherever the server puts it."""
    state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
    texts = [part.text for artifact in task.artifacts for part in artifact.parts if part.text]
    text = text_of(task.status.message) or "".join(texts)
    shown = text.splitlines()[0] if text else ""
    if "Error id" in shown:
        shown = "an error id"
    if len(shown) > 60:
        shown = f"{shown[:60]}…"
    return f"{state}: {shown}" if shown else state


def streamed_texts(frames: list[StreamResponse]) -> list[str]:
    """The text of each frame before the last one."""
    texts = deltas_of(frames)
    for frame in frames[:-1]:
        update = frame.artifact_update
        if not update.artifact.artifact_id.startswith("aion:"):
            texts += [part.text for part in update.artifact.parts if part.text]
        texts += [part.text for part in frame.status_update.status.message.parts if part.text]
    return texts


async def streamed_tokens(serve: Serve) -> str:
    async with listening(lambda url: serve(chat_graph(answering("to", "ken", "s")), url)) as url:
        return " · ".join(streamed_texts(await stream(url, "hi"))) or "nothing"


async def second_turn(serve: Serve) -> str:
    graph = chat_graph(counting(), remembering=True)
    async with listening(lambda url: serve(graph, url)) as url:
        await send(url, "one", context_id="c")
        return answer_of(await send(url, "two", context_id="c"))


async def session_memory(serve: Serve) -> str:
    async with listening(lambda url: serve(chat_graph(counting()), url)) as url:
        await send(url, "one", context_id="c")
        return answer_of(await send(url, "two", context_id="c"))


def ask_name(state: ChatState) -> ChatState:
    return {"messages": [AIMessage(content=f"hello {interrupt('Your name?')}")]}


async def paused(serve: Serve) -> str:
    async with listening(lambda url: serve(graph_of(ask_name, remembering=True), url)) as url:
        return answer_of(await send(url, "hi"))


async def resumed(serve: Serve) -> str:
    async with listening(lambda url: serve(graph_of(ask_name, remembering=True), url)) as url:
        task = await send(url, "hi")
        if task.status.state != TaskState.TASK_STATE_INPUT_REQUIRED:
            return "–"
        return answer_of(await send(url, "Ada", task_id=task.id, context_id=task.context_id))


async def outbox(serve: Serve) -> str:
    def reply(state: A2AState) -> dict[str, Any]:
        return {"a2a_outbox": A2AOutbox(message=text_message("explicit"))}

    async with listening(lambda url: serve(graph_of(reply), url)) as url:
        return answer_of(await send(url, "hi"))


async def emitted_file(serve: Serve) -> str:
    def report(state: ChatState, writer: StreamWriter) -> ChatState:
        emit_file(writer, data=b"%PDF", mime_type="application/pdf", name="report.pdf")
        return {"messages": [AIMessage(content="sent")]}

    async with listening(lambda url: serve(graph_of(report), url)) as url:
        task = await send(url, "hi")
    files = [artifact.name for artifact in task.artifacts for part in artifact.parts if part.raw]
    return ", ".join(files) or "no file"


async def content_blocks(serve: Serve) -> str:
    blocks: Any = [{"type": "text", "text": "in "}, {"type": "text", "text": "blocks"}]

    def answer(state: ChatState) -> ChatState:
        return {"messages": [AIMessage(content=blocks)]}

    async with listening(lambda url: serve(graph_of(answer), url)) as url:
        return answer_of(await send(url, "hi"))


async def error_shown(serve: Serve) -> str:
    def fail(state: ChatState) -> ChatState:
        raise RuntimeError(SECRET)

    async with listening(lambda url: serve(graph_of(fail), url)) as url:
        return answer_of(await send(url, "hi"))


async def json_text(serve: Serve) -> str:
    def recite(state: ChatState) -> ChatState:
        last = state["messages"][-1].text if state["messages"] else "nothing"
        return {"messages": [AIMessage(content=f"got {last}")]}

    async with listening(lambda url: serve(graph_of(recite), url)) as url:
        return answer_of(await send(url, '{"n": 1}'))


ROWS: dict[str, Ask] = {
    "a model streams three tokens": streamed_tokens,
    "the user's messages in the second turn, with a checkpointer": second_turn,
    "the same without a checkpointer": session_memory,
    '`interrupt("Your name?")`': paused,
    'the answer "Ada" to it': resumed,
    "`a2a_outbox` in the state": outbox,
    "a file from a node": emitted_file,
    "an answer in content blocks": content_blocks,
    "a node raises `password=hunter2`": error_shown,
    'the user types `{"n": 1}`': json_text,
}

HEAD = [
    "| Asked | `LangGraphAgent` | ADK's `LangGraphAgent` | a2a-adapter |",
    "|---|---|---|---|",
]


@pytest.mark.filterwarnings("ignore")
async def test_the_table_of_the_documentation_is_what_is_measured() -> None:
    page = (ROOT / "docs" / "drivers" / "langgraph.md").read_text()
    table = list(HEAD)
    for asked, ask in ROWS.items():
        cells = [await ask(serve) for serve in (ours, adks, adapters)]
        table.append(f"| {asked} | {' | '.join(cells)} |")
    assert "\n".join(table) in page, "\n" + "\n".join(table)
