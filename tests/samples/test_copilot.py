"""The copilot sample, called as a page calls it."""

from typing import Any

from aion_adk.cli.loader import find_agents
from tests.front_ends.calling import agui_events, run_input
from tests.front_ends.fold import fold
from tests.samples.running import SAMPLES
from tests.serving import serving

TOOL = {"name": "set_color", "description": "Colours the page.", "parameters": {"type": "object"}}


async def test_the_page_sees_the_list_change_and_runs_its_own_tool() -> None:
    app = find_agents(str(SAMPLES / "copilot")).agents["copilot"]
    async with serving(app, agui=True) as url:
        added = await agui_events(url, run_input("add buy milk", tools=[TOOL]))
        asked = await agui_events(url, run_input("make it blue", tools=[TOOL], runId="run2"))
        messages = fold(asked)
        [call] = messages[-1]["toolCalls"]
        answer = {"id": "a1", "role": "tool", "toolCallId": call["id"], "content": "ok"}
        body: dict[str, Any] = run_input("", tools=[TOOL], runId="run3")
        done = await agui_events(url, {**body, "messages": [*messages, answer]})
    [snapshot] = [event["snapshot"] for event in added if event["type"] == "STATE_SNAPSHOT"]
    assert snapshot == {"todos": ["buy milk"]}
    assert call["function"] == {"name": "set_color", "arguments": '{"color": "blue"}'}
    assert fold(done)[-1]["content"] == "How do you like it?"
