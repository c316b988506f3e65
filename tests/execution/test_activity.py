from typing import Any

import httpx
from a2a.client import ClientCallContext
from a2a.types import Message, StreamResponse, Task
from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from aion_adk.execution.activity import THOUGHTS, TOOL_ACTIVITY, public_state
from aion_adk.protocol.canonical import CanonicalType, canonical_type_of
from aion_adk.protocol.structs import to_dict, to_plain
from tests.models import ScriptedModel, call, text
from tests.serving import client_of, deltas_of, reply_of, request_of, send, serving, stream


def get_weather(city: str, tool_context: ToolContext) -> dict[str, str]:
    tool_context.state["last_city"] = city
    tool_context.state["temp:draft"] = "private"
    return {"sky": "clear"}


def weather_agent() -> LlmAgent:
    steps = [
        [
            text("Which city?", thought=True),
            text("Looking."),
            call("get_weather", call_id="c1", city="Oakland"),
        ],
        [text("Clear skies.")],
    ]
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=10, candidates_token_count=3, total_token_count=13
    )
    model = ScriptedModel(steps=steps, usage=usage)
    return LlmAgent(name="weather", model=model, tools=[get_weather])


def activity_of(task: Task) -> list[tuple[CanonicalType, list[Any]]]:
    return [_shown(message) for message in task.history[1:]]


def _shown(message: Message) -> tuple[CanonicalType, list[Any]]:
    parts = [to_plain(part.data) if part.HasField("data") else part.text for part in message.parts]
    return canonical_type_of(message), parts


CALLED = (
    CanonicalType.TOOL_CALL_START,
    ["Looking.", {"id": "c1", "name": "get_weather", "args": {"city": "Oakland"}}],
)
ANSWERED = (
    CanonicalType.TOOL_CALL_RESULT,
    [{"id": "c1", "name": "get_weather", "response": {"sky": "clear"}}],
)
REPLIED = (CanonicalType.TEXT_END, ["Clear skies."])


async def test_a_plain_client_sees_no_tools_thoughts_or_token_counts() -> None:
    async with serving(weather_agent()) as url:
        task = await send(url, "weather?")
    assert activity_of(task) == [REPLIED]
    assert not task.metadata.fields


async def test_the_option_shows_calls_results_state_and_usage_and_the_reply_once() -> None:
    async with serving(weather_agent(), tool_activity=True) as url:
        task = await send(url, "weather?")
    assert activity_of(task) == [CALLED, ANSWERED, REPLIED]
    assert reply_of(task) == "Clear skies."
    assert to_dict(task.history[2].metadata)["adk_actions"] == {
        "stateDelta": {"last_city": "Oakland"}
    }
    assert to_dict(task.metadata)["adk_usage_metadata"] == {
        "prompt_token_count": 20,
        "candidates_token_count": 6,
        "total_token_count": 26,
    }


async def test_a_client_asks_with_an_extension_and_thoughts_are_an_extension_of_their_own() -> None:
    frames = await _asking(TOOL_ACTIVITY, THOUGHTS)
    messages = [
        _shown(frame.status_update.status.message)
        for frame in frames
        if frame.status_update.status.HasField("message")
    ]
    thinking = (CALLED[0], ["Which city?", *CALLED[1]])
    assert messages == [thinking, ANSWERED, REPLIED]
    assert "".join(deltas_of(frames)) == "Which city?Looking.Clear skies."
    thoughts = [
        frame.artifact_update.artifact.artifact_id
        for frame in frames
        if any(part.metadata.fields for part in frame.artifact_update.artifact.parts)
    ]
    assert thoughts == ["aion:stream-delta#thought"] * 2


async def test_the_card_names_what_can_be_asked_for() -> None:
    async with serving(weather_agent()) as url, httpx.AsyncClient() as http:
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    declared = [extension["uri"] for extension in card["capabilities"]["extensions"]]
    assert declared == [TOOL_ACTIVITY, THOUGHTS]


async def _asking(*extensions: str) -> list[StreamResponse]:
    async with serving(weather_agent()) as url, client_of(url, streaming=True) as client:
        asking = ClientCallContext(
            service_parameters={"A2A-Extensions": ",".join(extensions), "A2A-Version": "1.0"}
        )
        request = request_of("weather?")
        return [frame async for frame in client.send_message(request, context=asking)]


async def test_each_message_of_a_stream_with_tools_is_there_once() -> None:
    async with serving(weather_agent(), tool_activity=True) as url:
        frames = await stream(url, "weather?")
    ids = [
        frame.status_update.status.message.message_id
        for frame in frames
        if frame.status_update.status.HasField("message")
    ]
    assert len(ids) == len(set(ids)) == 3


async def test_a_call_that_waits_for_an_answer_is_left_to_the_pause_it_causes() -> None:
    def ask(question: str) -> dict[str, str]:
        return {"status": "pending"}

    model = ScriptedModel(steps=[[call("ask", call_id="c1", question="ok?")], [text("Waiting.")]])
    agent = LlmAgent(name="asking", model=model, tools=[LongRunningFunctionTool(ask)])
    async with serving(agent, tool_activity=True) as url:
        task = await send(url, "go")
    working = [message for message in task.history if message != task.status.message]
    assert all(kind is CanonicalType.TEXT_CONTENT for kind in map(canonical_type_of, working))


def test_what_adk_keeps_for_signing_in_is_never_shown() -> None:
    delta: dict[str, object] = {
        "city": "Rome",
        "adk_oauth_state:a": "s",
        "adk_oauth_credential:a": {"oauth2": {}},
    }
    assert public_state(delta) == {"city": "Rome"}
