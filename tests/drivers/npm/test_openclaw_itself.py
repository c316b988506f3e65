"""The `openclaw` package of npm itself: `make test-openclaw`."""

import json
import os
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk.drivers import OpenClawAgent
from tests.agents import agent_of, text_event
from tests.serving import reply_of, send, serving

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("AION_ADK_TEST_NPM") != "openclaw",
        reason="fetches openclaw and Node.js 24 from npm: make test-openclaw",
    ),
    pytest.mark.timeout(900),
]


def claw(folder: Path, *, remembers: bool) -> OpenClawAgent:
    state = folder / "state"
    state.mkdir(exist_ok=True)
    return OpenClawAgent(
        "claw", remembers=remembers, state_dir=state, env={"HOME": str(folder)}, timeout=300
    )


def use_model_at(url: str, folder: Path) -> None:
    model = {"id": "fruits", "name": "fruits", "contextWindow": 200_000, "maxTokens": 4096}
    provider = {
        "baseUrl": f"{url}/v1",
        "apiKey": "none",
        "api": "openai-completions",
        "models": [model],
    }
    config = {
        "models": {"mode": "merge", "providers": {"local": provider}},
        "agents": {"defaults": {"model": {"primary": "local/fruits"}}},
    }
    (folder / "state" / "openclaw.json").write_text(json.dumps(config))


async def names_fruits(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    """A model, as OpenClaw sees it: answers which fruits the conversation has named."""
    conversation = [event.content for event in ctx.session.events if event.author == "user"]
    texts = [
        part.text or ""
        for text_event in conversation
        if text_event
        for part in text_event.parts or []
    ]
    fruits = dict.fromkeys(re.findall(r"apple|pear", " ".join(texts)))
    yield text_event(agent, ctx, " and ".join(fruits))


@pytest.mark.parametrize("remembers", [True, False])
async def test_openclaw_without_credentials_answers_with_an_error_that_is_only_logged(
    remembers: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(claw(tmp_path, remembers=remembers)) as url:
        task = await send(url, "hi")
    assert reply_of(task) == "The OpenClaw agent failed."
    assert "authentication" in caplog.text


@pytest.mark.parametrize(("remembers", "second"), [(True, "apple and pear"), (False, "pear")])
async def test_openclaw_answers_with_the_text_of_its_model(
    remembers: bool, second: str, tmp_path: Path
) -> None:
    """Its model is an agent served here: OpenClaw is a client of one server, behind another."""
    model, agent = agent_of(names_fruits, name="fruits"), claw(tmp_path, remembers=remembers)
    async with serving(model, openai=True) as model_url, serving(agent) as url:
        use_model_at(model_url, tmp_path)
        first = await send(url, "I like the apple.")
        task = await send(url, "And the pear.", context_id=first.context_id)
    assert reply_of(first) == "apple"
    assert reply_of(task) == second
