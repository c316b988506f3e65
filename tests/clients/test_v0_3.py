"""a2a-sdk 0.3's client, in an environment of its own, on the 0.3 interfaces of every binding."""

import base64
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.clients.conftest import Story
from tests.clients.foreign import output_of, skip_loudly
from tests.paths import ROOT

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

HERE = Path(__file__).parent / "v0_3"
Json = dict[str, Any]


async def python_of_0_3() -> Path:
    """The interpreter of an environment that holds the pinned client."""
    requirements = HERE / "requirements.txt"
    folder = ROOT / ".venv-a2a03"
    python, installed = folder / "bin/python", folder / "installed.txt"
    if installed.exists() and installed.read_text() == requirements.read_text():
        return python
    try:
        await output_of(sys.executable, "-m", "venv", "--clear", folder, cwd=HERE)
        await output_of(python, "-m", "pip", "install", "-q", "-r", requirements, cwd=HERE)
    except RuntimeError as error:
        skip_loudly("the 0.3 client", f"it could not be installed: {error}")
    installed.write_text(requirements.read_text())
    return python


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["JSONRPC", "HTTP+JSON", "GRPC"]
)
async def steps(request: pytest.FixtureRequest, story: Story) -> AsyncGenerator[Json, None]:
    """What the client saw, by step."""
    python = await python_of_0_3()
    yield json.loads(await output_of(python, "story.py", story.url, request.param, cwd=HERE))


def texts(message: Json) -> list[str]:
    return [part["text"] for part in message["parts"] if part["kind"] == "text"]


async def test_the_card_has_what_a_0_3_client_reads(story: Story) -> None:
    """The 1.0 interfaces come first, so that no client of 1.0 takes one of 0.3."""
    async with httpx.AsyncClient() as http:
        card = (await http.get(f"{story.url}/.well-known/agent-card.json")).json()
    assert (card["url"], card["preferredTransport"]) == (f"{story.url}/", "JSONRPC")
    assert card["protocolVersion"] == "0.3"
    assert [each["transport"] for each in card["additionalInterfaces"]] == ["HTTP+JSON", "GRPC"]
    versions = [each["protocolVersion"] for each in card["supportedInterfaces"]]
    assert versions == ["1.0"] * 3 + ["0.3"] * 3


async def test_a_message_is_answered(steps: Json) -> None:
    """A10"""
    task = steps["sent"]["sent"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    assert texts(task["status"]["message"]) == ["You said: hello"]
    assert steps["sent"]["again"]["id"] == task["id"]


async def test_files_go_in_and_come_out(steps: Json) -> None:
    task = steps["files"]
    sent = [part["file"] for part in task["status"]["message"]["parts"] if part["kind"] == "file"]
    assert base64.b64decode(sent[0]["bytes"]) == b"bytes in"
    assert (sent[0]["name"], sent[0]["mimeType"]) == ("in.bin", "image/gif")
    assert (sent[1]["uri"], sent[1]["mimeType"]) == (
        "https://files.example/in.pdf",
        "application/pdf",
    )
    made, linked = (artifact["parts"][0]["file"] for artifact in task["artifacts"])
    assert base64.b64decode(made["bytes"]) == b"made here"
    assert linked["uri"] == "https://files.example/a.png"


async def test_text_streams_as_it_comes(steps: Json) -> None:
    frames = steps["streamed"]
    chunks = [
        part["text"]
        for frame in frames
        if frame["kind"] == "artifact-update"
        for part in frame["artifact"]["parts"]
    ]
    assert "".join(chunks) == "one two three"
    assert (frames[-1]["status"]["state"], frames[-1]["final"]) == ("completed", True)


async def test_a_running_task_is_followed_from_elsewhere_and_canceled(steps: Json) -> None:
    seen = steps["canceled"]
    assert seen["joined"]["status"]["state"] == "working"
    assert seen["canceled"]["status"]["state"] == "canceled"
    assert seen["rest"][-1]["status"]["state"] == "canceled"


async def test_a_pause_is_answered_with_text(steps: Json) -> None:
    paused, resumed = steps["paused"]["paused"], steps["paused"]["resumed"]
    assert paused["status"]["state"] == "input-required"
    assert resumed["id"] == paused["id"]
    assert texts(resumed["status"]["message"]) == ["You said: blue"]
