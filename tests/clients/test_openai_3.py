"""openai 3, in an environment of its own: what `openai` 2 is given, it takes as well."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.foreign import output_of, skip_loudly
from tests.front_ends.conversations import locating_agent
from tests.front_ends.openai_rows import ROWS, chat, responses
from tests.paths import ROOT
from tests.serving import serving

pytestmark = pytest.mark.timeout(300)

HERE = Path(__file__).parent / "openai_3"


async def python_of_openai_3() -> Path:
    """The interpreter of an environment that holds the client."""
    requirements = HERE / "requirements.txt"
    folder = ROOT / ".venv-openai3"
    python, installed = folder / "bin/python", folder / "installed.txt"
    if installed.exists() and installed.read_text() == requirements.read_text():
        return python
    try:
        await output_of(sys.executable, "-m", "venv", "--clear", folder, cwd=HERE)
        await output_of(python, "-m", "pip", "install", "-q", "-r", requirements, cwd=HERE)
    except RuntimeError as error:
        skip_loudly("openai 3", f"it could not be installed: {error}")
    installed.write_text(requirements.read_text())
    return python


def everything_encoded() -> dict[str, list[Any]]:
    streams = [row.values[0] for row in ROWS]
    return {
        "chunks": [chunk for events in streams for chunk in chat(events, include_usage=True)],
        "events": [event for events in streams for event in responses(events)],
        "responses": [responses(events)[-1]["response"] for events in streams],
    }


async def test_openai_3_calls_the_agent_and_takes_every_chunk_and_event() -> None:
    python = await python_of_openai_3()
    async with serving(locating_agent(), openai=True) as url:
        process = await asyncio.create_subprocess_exec(
            python,
            HERE / "story.py",
            url,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate(json.dumps(everything_encoded()).encode())
    seen = json.loads(out)
    assert seen["version"].startswith("3.")
    assert seen["reason"] == "tool_calls"
    assert seen["text"] == "You are in Oakland."
    assert seen["invalid"] == []
