"""@a2a-js/sdk, the JavaScript client, over JSON-RPC and HTTP+JSON."""

import base64
import json
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.clients.conftest import Story
from tests.clients.foreign import output_of, skip_loudly

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

HERE = Path(__file__).parent / "js"
Json = dict[str, Any]


async def install() -> None:
    """Installs the pinned client beside its script."""
    if not (shutil.which("node") and shutil.which("npm")):
        skip_loudly("the JavaScript client", "node and npm are not here")
    if (HERE / "node_modules/@a2a-js/sdk/package.json").exists():
        return
    try:
        await output_of("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", cwd=HERE)
    except RuntimeError as error:
        skip_loudly("the JavaScript client", f"npm could not install it: {error}")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["JSONRPC", "HTTP+JSON"])
async def steps(request: pytest.FixtureRequest, story: Story) -> AsyncGenerator[Json, None]:
    """What the client saw, by step."""
    await install()
    yield json.loads(await output_of("node", "story.mjs", story.url, request.param, cwd=HERE))


def parts_of(message: Json) -> list[str]:
    return [part.get("text", "") for part in message["parts"]]


async def test_the_client_finds_the_server_by_its_card(steps: Json) -> None:
    assert steps["card"]["name"] == "storyteller"
    assert steps["binding"] in {
        each["protocolBinding"] for each in steps["card"]["supportedInterfaces"]
    }


async def test_a_message_is_answered(steps: Json) -> None:
    assert parts_of(steps["sent"]["status"]["message"]) == ["You said: hello"]


async def test_files_go_in_and_come_out(steps: Json) -> None:
    task = steps["files"]
    echoed = task["status"]["message"]["parts"]
    assert base64.b64decode(echoed[1]["raw"]) == b"bytes in"
    assert (echoed[1]["filename"], echoed[1]["mediaType"]) == ("in.bin", "image/gif")
    assert echoed[2]["url"] == "https://files.example/in.pdf"
    assert echoed[3]["data"] == {"colour": "blue", "count": 2}
    made, linked = (artifact["parts"][0] for artifact in task["artifacts"])
    assert base64.b64decode(made["raw"]) == b"made here"
    assert linked["url"] == "https://files.example/a.png"


async def test_text_streams_as_it_comes(steps: Json) -> None:
    frames = steps["streamed"]
    updates = [frame["artifactUpdate"] for frame in frames if "artifactUpdate" in frame]
    chunks = [part["text"] for update in updates for part in update["artifact"].get("parts", [])]
    assert "".join(chunks) == "one two three"
    assert "task" in frames[0]
    assert parts_of(frames[-1]["statusUpdate"]["status"]["message"]) == ["one two three"]


async def test_a_running_task_is_followed_from_elsewhere_and_canceled(steps: Json) -> None:
    seen = steps["canceled"]
    assert seen["joined"]["task"]["id"] == seen["first"]["task"]["id"]
    assert seen["canceled"]["status"]["state"] == "TASK_STATE_CANCELED"
    for frames in (seen["followed"], seen["rest"]):
        assert frames[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_CANCELED"


async def test_a_pause_is_answered_with_text(steps: Json) -> None:
    paused, resumed = steps["paused"]["paused"], steps["paused"]["resumed"]
    assert paused["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert parts_of(paused["status"]["message"]) == ["Which colour?"]
    assert resumed["id"] == paused["id"]
    assert parts_of(resumed["status"]["message"]) == ["You said: blue"]


async def test_updates_are_pushed_to_a_webhook(steps: Json) -> None:
    seen = steps["pushed"]
    assert [each["url"] for each in (seen["created"], seen["got"])] == [seen["hook"]] * 2
    assert [each["id"] for each in seen["listed"]] == ["hook-1"]
    assert seen["left"] == []
    assert {each["token"] for each in seen["received"]} == {"secret-1"}
    states = [
        each["body"]["statusUpdate"]["status"]["state"]
        for each in seen["received"]
        if "statusUpdate" in each["body"]
    ]
    assert states[-1] == "TASK_STATE_COMPLETED"
