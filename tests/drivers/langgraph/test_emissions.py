"""What nodes send through LangGraph's StreamWriter while they run."""

import base64
from typing import Any

import pytest
from a2a.types import StreamResponse, TaskState
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.types import StreamWriter

from aion_adk.drivers import LangGraphAgent
from aion_adk.drivers.langgraph import emit_data, emit_file, emit_message, emit_task_metadata
from tests.drivers.cases.chat_models import answering
from tests.drivers.cases.langgraph_graphs import ChatState, graph_of
from tests.serving import deltas_of, reply_of, send, serving, stream, text_of


async def test_files_and_data_become_artifacts() -> None:
    def report(state: ChatState, writer: StreamWriter) -> ChatState:
        emit_file(writer, url="https://e.test/r.pdf", mime_type="application/pdf", name="report")
        emit_file(writer, data=base64.b64encode(b"one").decode(), mime_type="text/x", name="log")
        emit_file(writer, data=b"two", mime_type="text/x", name="log", append=True)
        emit_data(writer, {"rows": 2}, name="stats")
        return {"messages": [AIMessage(content="done")]}

    async with serving(LangGraphAgent("report", graph_of(report))) as url:
        task = await send(url, "hi")
    artifacts = {artifact.name: artifact for artifact in task.artifacts}
    assert artifacts["report"].parts[0].url == "https://e.test/r.pdf"
    assert [part.raw for part in artifacts["log"].parts] == [b"one", b"two"]
    assert artifacts["stats"].parts[0].data.struct_value["rows"] == 2
    assert reply_of(task) == "done"


async def test_a_message_is_kept_in_the_history_and_a_chunk_is_only_streamed() -> None:
    def work(state: ChatState, writer: StreamWriter) -> ChatState:
        emit_message(writer, AIMessage(content="started", id="ai-1"))
        emit_message(writer, AIMessageChunk(content="half "))
        emit_message(writer, AIMessageChunk(content="way"))
        return {"messages": [AIMessage(content="done")]}

    async with serving(LangGraphAgent("work", graph_of(work))) as url:
        frames = await stream(url, "hi")
        task = await send(url, "hi")
    assert deltas_of(frames) == ["half ", "way", "done"]
    assert [text_of(message) for message in task.history] == ["hi", "started", "done"]
    assert task.history[1].message_id == "ai-1"


async def test_the_last_emitted_message_is_the_reply_of_a_graph_without_another_answer() -> None:
    """C3"""

    def work(state: ChatState, writer: StreamWriter) -> dict[str, Any]:
        emit_message(writer, "all there is")
        return {}

    async with serving(LangGraphAgent("work", graph_of(work))) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (TaskState.TASK_STATE_COMPLETED, "all there is")


async def test_task_metadata_is_merged_without_protected_keys() -> None:
    """D3"""

    def work(state: ChatState, writer: StreamWriter) -> dict[str, Any]:
        emit_task_metadata(writer, {"progress": 50, "step": "a"})
        emit_task_metadata(writer, {"progress": 100, "aion:network": "forged"})
        return {}

    async with serving(LangGraphAgent("work", graph_of(work))) as url:
        task = await send(url, "hi")
    assert dict(task.metadata.items()) == {"progress": 100, "step": "a"}


async def test_emissions_keep_their_place_between_the_chunks_of_a_model() -> None:
    async def work(state: ChatState, writer: StreamWriter) -> ChatState:
        model = answering("one", "two")
        chunks: list[str] = []
        async for chunk in model.astream(""):
            chunks.append(chunk.text)
            if chunk.text == "one":
                emit_message(writer, AIMessage(content="between"))
        return {"messages": [AIMessage(content="end")]}

    async with serving(LangGraphAgent("work", graph_of(work))) as url:
        frames = await stream(url, "hi")
    assert [text for frame in frames for text in texts_in(frame)] == [
        "one",
        "between",
        "two",
        "end",
        "end",
    ]


def texts_in(frame: StreamResponse) -> list[str]:
    parts = [*frame.artifact_update.artifact.parts, *frame.status_update.status.message.parts]
    return [part.text for part in parts if part.text]


async def test_what_a_graph_writes_for_itself_is_left_alone() -> None:
    def work(state: ChatState, writer: StreamWriter) -> ChatState:
        writer({"my": "progress"})
        return {"messages": [AIMessage(content="done")]}

    async with serving(LangGraphAgent("work", graph_of(work))) as url:
        assert reply_of(await send(url, "hi")) == "done"


def test_a_file_has_exactly_one_source() -> None:
    with pytest.raises(ValueError, match="exactly one of url and data"):
        emit_file(print, mime_type="text/plain")
