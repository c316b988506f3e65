"""The `openclaw` package of npm itself: `make test-openclaw`."""

import os
from pathlib import Path

import pytest

from aion_adk.drivers import OpenClawAgent
from tests.serving import reply_of, send, serving

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("AION_ADK_TEST_OPENCLAW"),
        reason="fetches openclaw and Node.js 24 from npm: make test-openclaw",
    ),
    pytest.mark.timeout(900),
]

OPENCLAW = ("npx", "--yes", "--package", "node@24", "--package", "openclaw@2026.9.6", "openclaw")


@pytest.mark.parametrize("remembers", [True, False])
async def test_openclaw_without_credentials_answers_with_an_error_that_is_only_logged(
    remembers: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    command = os.environ.get("OPENCLAW_COMMAND", "").split() or OPENCLAW
    agent = OpenClawAgent(
        "claw",
        command=command,
        remembers=remembers,
        state_dir=tmp_path / "state",
        env={"HOME": str(tmp_path)},
    )
    async with serving(agent) as url:
        task = await send(url, "hi")
    assert reply_of(task) == "The OpenClaw agent failed."
    assert "authentication" in caplog.text
