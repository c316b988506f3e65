"""The approval sample: over A2A, in adk's terminal and in adk's web API."""

import asyncio
import json
from typing import Any

import httpx
from a2a.types import TaskState

from aion_adk.cli.loader import find_agents
from tests.samples.running import SAMPLES, adk_site, run
from tests.serving import reply_of, send, serving

ASKED = "refund order 7, 120 euros"
PAID = "Refunded. The receipt is R-7-120."


async def test_a_large_refund_waits_for_an_answer_and_a_small_one_does_not() -> None:
    """F1, F2"""
    app = find_agents(str(SAMPLES / "approval")).agents["approval"]
    async with serving(app) as url:
        small = await send(url, "refund order 7, 20 euros")
        large = await send(url, ASKED)
        refused = await send(url, "no", task_id=large.id)
    assert reply_of(small) == "Refunded. The receipt is R-7-20."
    assert large.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert reply_of(large) == "Approve refund(order=7, amount=120)?\nAnswer yes or no."
    assert reply_of(refused) == "Then I leave it as it is."


async def test_a_person_approves_it_with_the_terminal_client() -> None:
    """F2"""
    app = find_agents(str(SAMPLES / "approval")).agents["approval"]
    async with serving(app) as url:
        asked = await asyncio.to_thread(run, "aion_adk", "send", url, ASKED, "--json")
        task_id = json.loads(asked.stdout.splitlines()[0])["task"]["id"]
        decided = await asyncio.to_thread(run, "aion_adk", "send", url, "yes", "--task", task_id)
    assert asked.returncode == 3
    assert (decided.returncode, PAID in decided.stdout) == (0, True)


def test_a_large_refund_asks_in_adks_terminal() -> None:
    """B3"""
    lines = f"{ASKED}\nyes\n" + "exit\n" * 3
    done = run("google.adk.cli", "run", "--in_memory", str(SAMPLES / "approval"), text=lines)
    assert PAID in done.stdout


async def test_a_large_refund_asks_in_adks_web_api() -> None:
    """B3"""
    transport = httpx.ASGITransport(adk_site())
    async with httpx.AsyncClient(transport=transport, base_url="http://adk", timeout=30) as http:
        session = await http.post("/apps/approval/users/u/sessions", json={})
        target = {"app_name": "approval", "user_id": "u", "session_id": session.json()["id"]}
        message: Any = {"role": "user", "parts": [{"text": ASKED}]}
        asked = await http.post("/run", json={**target, "new_message": message})
        contents: list[Any] = [event.get("content") or {} for event in asked.json()]
        calls: list[Any] = [
            part["functionCall"]
            for content in contents
            for part in content.get("parts", [])
            if "functionCall" in part
        ]
        name = "adk_request_confirmation"
        (request_id,) = [call["id"] for call in calls if call["name"] == name]
        answer: dict[str, Any] = {
            "id": request_id,
            "name": name,
            "response": {"confirmed": True},
        }
        message = {"role": "user", "parts": [{"functionResponse": answer}]}
        paid = await http.post("/run", json={**target, "new_message": message})
    assert PAID in paid.text
