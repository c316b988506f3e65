"""ADK's `RemoteA2aAgent`, as a sub-agent of a second ADK agent, reads what the bridge serves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from google.adk.agents import LlmAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.agents.run_config import (
    RunConfig,
    StreamingMode,  # pyright: ignore[reportPrivateImportUsage]  # ADK documents it from here
)
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool, ToolContext
from google.genai import types

from aion_adk import TaskFailed, emit_file, emit_message, reply
from tests.models import ScriptedModel, call, text
from tests.serving import serving

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.parametrize("streaming", [True, False]),
    pytest.mark.parametrize("legacy", [True, False]),
]


class Caller:
    """An ADK agent that hands everything to the remote one."""

    def __init__(self, remote: RemoteA2aAgent, *, streaming: bool) -> None:
        transfer = [call("transfer_to_agent", call_id="t", agent_name=remote.name)]
        root = LlmAgent(name="root", model=ScriptedModel(steps=[transfer]), sub_agents=[remote])
        self._runner = Runner(
            app_name="caller",
            agent=root,
            session_service=InMemorySessionService(),
            auto_create_session=True,
        )
        mode = StreamingMode.SSE if streaming else StreamingMode.NONE
        self._config = RunConfig(streaming_mode=mode)

    async def ask(self, *parts: types.Part) -> list[Event]:
        """The events that the remote agent answers with."""
        events = self._runner.run_async(
            user_id="u",
            session_id="s",
            new_message=types.Content(role="user", parts=list(parts)),
            run_config=self._config,
        )
        return [event async for event in events if event.author == "remote"]


@asynccontextmanager
async def calling(
    *steps: list[types.Part], streaming: bool, legacy: bool, tools: list[Any] | None = None
) -> AsyncGenerator[Caller, None]:
    served = LlmAgent(name="served", model=ScriptedModel(steps=list(steps)), tools=tools or [])
    async with serving(served) as url, httpx.AsyncClient(timeout=30) as http:
        remote = RemoteA2aAgent(
            name="remote",
            agent_card=f"{url}/.well-known/agent-card.json",
            a2a_client_factory=ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)),
            use_legacy=legacy,
        )
        yield Caller(remote, streaming=streaming)


def texts(events: list[Event], *, partial: bool) -> list[str]:
    return [
        part.text
        for event in events
        if bool(event.partial) == partial and event.content
        for part in event.content.parts or []
        if part.text and not part.thought
    ]


def files(events: list[Event]) -> list[tuple[str | None, bytes | None]]:
    return [
        (part.inline_data.display_name, part.inline_data.data)
        for event in events
        if event.content
        for part in event.content.parts or []
        if part.inline_data
    ]


def questions(events: list[Event]) -> list[types.FunctionCall]:
    return [
        item
        for event in events
        for item in event.get_function_calls()
        if item.id in (event.long_running_tool_ids or set[str]())
    ]


def answer(question: types.FunctionCall, value: dict[str, Any]) -> types.Part:
    response = types.FunctionResponse(id=question.id, name=question.name, response=value)
    return types.Part(function_response=response)


async def test_text_is_read_exactly_once(*, streaming: bool, legacy: bool) -> None:
    """E2, E4"""
    async with calling([text("Hello there.")], streaming=streaming, legacy=legacy) as caller:
        events = await caller.ask(text("hi"))
    assert texts(events, partial=False) == ["Hello there."]
    assert texts(events, partial=True) == (["Hello ", "there."] if streaming else [])


async def test_text_and_files_of_one_answer_are_both_read_once(
    *, streaming: bool, legacy: bool
) -> None:
    """C5, E6"""

    def draw(tool_context: ToolContext) -> str:
        emit_file(tool_context, data=b"pixels", mime_type="image/png", name="a.png")
        return "drawn"

    steps = [[call("draw", call_id="d")], [text("Here it is.")]]
    async with calling(*steps, streaming=streaming, legacy=legacy, tools=[draw]) as caller:
        events = await caller.ask(text("draw"))
    assert files(events) == [("a.png", b"pixels")]
    assert texts(events, partial=False) == ["Here it is."]


async def test_several_messages_are_read_in_order(*, streaming: bool, legacy: bool) -> None:
    """C1, C5"""

    def find(tool_context: ToolContext) -> str:
        emit_message(tool_context, "looking")
        reply(tool_context, "found it")
        return "found"

    steps = [[call("find", call_id="d")], [text("unused")]]
    async with calling(*steps, streaming=streaming, legacy=legacy, tools=[find]) as caller:
        events = await caller.ask(text("find it"))
    whole = texts(events, partial=False)
    assert whole == (["looking", "found it"] if streaming else ["found it"])


async def test_a_confirmation_is_relayed_and_its_answer_brought_back(
    *, streaming: bool, legacy: bool
) -> None:
    """F1, F2"""
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    steps = [[text("One moment."), call("pay", call_id="p", amount=5)], [text("Paid.")]]
    tools = [FunctionTool(pay, require_confirmation=True)]
    async with calling(*steps, streaming=streaming, legacy=legacy, tools=tools) as caller:
        asked = await caller.ask(text("pay"))
        (question,) = questions(asked)
        assert (question.name, paid) == ("adk_request_confirmation", [])
        done = await caller.ask(answer(question, {"confirmed": True}))
    assert texts(asked, partial=False)[0] == "One moment."
    assert paid == [5]
    assert questions(done) == []
    assert texts(done, partial=False) == ["Paid."]


async def test_a_refused_confirmation_runs_no_tool(*, streaming: bool, legacy: bool) -> None:
    """F2"""
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    steps = [[call("pay", call_id="p", amount=5)], [text("Then not.")]]
    tools = [FunctionTool(pay, require_confirmation=True)]
    async with calling(*steps, streaming=streaming, legacy=legacy, tools=tools) as caller:
        (question,) = questions(await caller.ask(text("pay")))
        done = await caller.ask(answer(question, {"confirmed": False}))
    assert (paid, texts(done, partial=False)) == ([], ["Then not."])


async def test_a_failure_shows_the_text_meant_for_the_caller(
    *, streaming: bool, legacy: bool
) -> None:
    """F4"""

    def fail() -> str:
        raise TaskFailed("The printer is out of paper.")

    async with calling(
        [call("fail", call_id="f")], streaming=streaming, legacy=legacy, tools=[fail]
    ) as caller:
        events = await caller.ask(text("print"))
    assert texts(events, partial=False) == ["The printer is out of paper."]
