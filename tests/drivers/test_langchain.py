from collections.abc import AsyncIterator
from typing import Any

import pytest
from a2a.types import TaskState
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from pydantic import BaseModel

from aion_adk.drivers import LangChainAgent
from tests.drivers.cases.chat_models import answering, counting, echoing
from tests.serving import deltas_of, reply_of, send, serving, stream, text_of


async def reply(agent: LangChainAgent, text: str = "hi") -> str:
    async with serving(agent) as url:
        return reply_of(await send(url, text))


async def test_a_fake_model_streams_and_its_message_gives_the_reply_its_id() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage(content="hello you", id="ai-1")] * 2))
    async with serving(LangChainAgent("chat", model)) as url:
        frames = await stream(url, "hi")
        task = await send(url, "hi")
    assert deltas_of(frames) == ["hello", " ", "you"]
    assert task.status.message.message_id == "ai-1"


async def test_a_text_model_is_given_the_text() -> None:
    model = PromptTemplate.from_template("{q}") | FakeListLLM(responses=["ok"])
    assert await reply(LangChainAgent("llm", FakeListLLM(responses=["plain"]))) == "plain"
    assert await reply(LangChainAgent("llm", model)) == "ok"


async def test_the_conversation_is_given_to_what_takes_messages() -> None:
    placeholder = ChatPromptTemplate.from_messages([MessagesPlaceholder("messages")])
    async with serving(LangChainAgent("chat", placeholder | counting())) as url:
        answers = [reply_of(await send(url, "hi", context_id="c")) for _ in range(3)]
    assert answers == ["1", "2", "3"]


async def test_a_runnable_with_its_own_history_is_not_given_another() -> None:
    histories: dict[str, InMemoryChatMessageHistory] = {}

    def history_of(session_id: str) -> InMemoryChatMessageHistory:
        return histories.setdefault(session_id, InMemoryChatMessageHistory())

    agent = LangChainAgent("chat", RunnableWithMessageHistory(counting(), history_of))
    async with serving(agent) as url:
        answers = [reply_of(await send(url, "hi", context_id="c")) for _ in range(3)]
        other = reply_of(await send(url, "hi", context_id="d"))
    assert (answers, other) == (["1", "2", "3"], "1")
    assert len(histories) == 2


async def test_the_input_pipeline_takes_mapper_then_json_then_key() -> None:
    def show(given: dict[str, Any]) -> str:
        return " ".join(f"{key}={given[key]}" for key in sorted(given))

    echo = RunnableLambda(show)
    fixed: dict[str, Any] = {"z": "server"}
    mapped = LangChainAgent(
        "a", echo, input_mapper=lambda text, _: {"m": text}, default_inputs=fixed
    )
    parsed = LangChainAgent("a", echo, parse_json_input=True, default_inputs=fixed)
    assert await reply(mapped) == "m=hi z=server"
    assert await reply(parsed, '{"k": 1, "z": "caller"}') == "k=1 z=server"
    assert await reply(parsed, "[1]") == "input=[1] z=server"
    assert await reply(LangChainAgent("a", echo), '{"k": 1}') == 'input={"k": 1}'
    assert await reply(LangChainAgent("a", echo, input_key="q")) == "q=hi"


async def test_output_key_picks_the_answer_and_streams_it() -> None:
    async def pieces(given: AsyncIterator[Any]) -> AsyncIterator[dict[str, str]]:
        for word in ("a", "b"):
            yield {"answer": word, "debug": "x"}

    agent = LangChainAgent("pick", RunnableGenerator(pieces), output_key="answer")
    async with serving(agent) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == ["a", "b"]
    assert text_of(frames[-1].status_update.status.message) == "ab"


async def test_an_object_or_a_model_is_answered_as_data() -> None:
    class City(BaseModel):
        name: str
        people: int

    def city(given: Any) -> City:
        return City(name="Bonn", people=3)

    async with serving(LangChainAgent("city", RunnableLambda(city))) as url:
        message = (await send(url, "hi")).status.message
        frames = await stream(url, "hi")
    for part in (message.parts[0], frames[-1].status_update.status.message.parts[0]):
        assert dict(part.data.struct_value.items()) == {"name": "Bonn", "people": 3}


@pytest.mark.parametrize("streaming", [False, True])
async def test_content_blocks_are_kept_and_reasoning_is_left_out(streaming: bool) -> None:
    model = answering(
        {"type": "reasoning", "reasoning": "hm", "index": 0},
        {"type": "text", "text": "se", "index": 1},
        {"type": "text", "text": "e", "index": 1},
        {"type": "image", "url": "https://e.test/a.png", "mime_type": "image/png", "index": 2},
    )
    async with serving(LangChainAgent("rich", model)) as url:
        if streaming:
            frames = await stream(url, "hi")
            assert deltas_of(frames) == ["se", "e"]
            message = frames[-1].status_update.status.message
        else:
            message = (await send(url, "hi")).status.message
    assert [(part.text, part.url) for part in message.parts] == [
        ("see", ""),
        ("", "https://e.test/a.png"),
    ]


async def test_an_output_that_nobody_can_read_fails_the_task() -> None:
    async with serving(LangChainAgent("odd", RunnableLambda(len))) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED


def test_what_is_no_runnable_is_refused() -> None:
    not_one: Any = print
    with pytest.raises(TypeError, match="expected a Runnable"):
        LangChainAgent("no", not_one)


async def test_a_model_behind_fallbacks_is_a_chat_model_too() -> None:
    assert await reply(LangChainAgent("chat", echoing().with_fallbacks([echoing()]))) == "hi!"
