"""What every driver does in the same way, whatever framework is behind it."""

# pyright: reportDeprecated=false
# ADK deprecates SequentialAgent and ParallelAgent, and users still have them.

import asyncio
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.types import CancelTaskRequest, StreamResponse, TaskState
from click.testing import CliRunner
from google.adk.agents import ParallelAgent, SequentialAgent
from google.adk.cli.cli_tools_click import main as adk

from tests.drivers.cases import CASES
from tests.drivers.cases.case import SECRET, Case, Probe
from tests.drivers.under_adk import AGENT_MODULE, shown
from tests.serving import (
    client_of,
    deltas_of,
    reply_of,
    request_of,
    sections_of,
    send,
    serving,
    stream,
    text_of,
)

pytestmark = pytest.mark.filterwarnings("ignore:(Sequential|Parallel)Agent is deprecated")

every_driver = pytest.mark.parametrize("case", CASES, ids=[case.driver for case in CASES])


def final_state(frames: Sequence[StreamResponse]) -> TaskState:
    return frames[-1].status_update.status.state


@every_driver
async def test_a_blocking_call_gets_the_answer(case: Case) -> None:
    async with case.running(), serving(case.echo()) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (TaskState.TASK_STATE_COMPLETED, "hi!")
    assert [text_of(message) for message in task.history] == ["hi", "hi!"]


@every_driver
async def test_a_stream_has_each_chunk_once_and_the_whole_answer_at_its_end(case: Case) -> None:
    async with case.running(), serving(case.echo()) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == (["hi", "!"] if case.streams else [])
    assert final_state(frames) == TaskState.TASK_STATE_COMPLETED
    assert text_of(frames[-1].status_update.status.message) == "hi!"


@every_driver
async def test_drivers_in_a_sequence_answer_one_after_the_other(case: Case) -> None:
    async with case.running():
        both = SequentialAgent(name="both", sub_agents=[case.echo("first"), case.echo("second")])
        async with serving(both) as url:
            frames = await stream(url, "hi")
    assert sections_of(frames) == (["hi!", "hi!"] if case.streams else [])
    assert text_of(frames[-1].status_update.status.message) == "hi!"


@every_driver
async def test_streams_of_parallel_drivers_never_mix(case: Case) -> None:
    async with case.running():
        both = ParallelAgent(name="both", sub_agents=[case.echo("left"), case.echo("right")])
        async with serving(both) as url:
            frames = await stream(url, "hi")
    assert sections_of(frames) == (["hi!", "hi!"] if case.streams else [])
    assert final_state(frames) == TaskState.TASK_STATE_COMPLETED


@every_driver
async def test_failing_after_three_chunks_keeps_them_and_shows_no_secret(
    case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    """F4"""
    with caplog.at_level(logging.ERROR):
        async with case.running(), serving(case.failing()) as url:
            frames = await stream(url, "hi")
    assert deltas_of(frames) == (["A", "B", "C"] if case.streams else [])
    assert sections_of(frames) == (["ABC"] if case.streams else [])
    assert final_state(frames) == TaskState.TASK_STATE_FAILED
    assert SECRET not in str(frames)
    assert SECRET in caplog.text


@every_driver
async def test_cancel_reaches_the_framework(case: Case) -> None:
    """F3"""
    probe = Probe()
    async with case.running(), serving(case.hanging(probe)) as url, client_of(url) as client:
        request = request_of("hi")
        request.configuration.return_immediately = True
        frames = [frame async for frame in client.send_message(request)]
        await asyncio.wait_for(probe.started.wait(), 10)
        task = await client.cancel_task(CancelTaskRequest(id=frames[-1].task.id))
        await asyncio.wait_for(probe.cancelled.wait(), 10)
    assert task.status.state == TaskState.TASK_STATE_CANCELED


@every_driver
async def test_a_run_past_its_deadline_fails_and_is_stopped(case: Case) -> None:
    probe = Probe()
    async with case.running(), serving(case.hanging(probe, timeout=1.5)) as url:
        task = await send(url, "hi")
        await asyncio.wait_for(probe.cancelled.wait(), 10)
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert reply_of(task) == "The agent did not finish within 1.5 seconds."


def user_in_metadata(context: RequestContext) -> str:
    return str(context.metadata["user"])


@every_driver
async def test_two_users_with_one_context_id_are_kept_apart(case: Case) -> None:
    async with case.running(), serving(case.counting(), user_id=user_in_metadata) as url:
        answers = [
            reply_of(await send(url, "hi", context_id="shared", metadata={"user": user}))
            for user in ("ada", "ada", "bob", "ada")
        ]
    assert answers == ["1", "2", "1", "3"]


@every_driver
async def test_the_driver_runs_under_adk_run(case: Case, tmp_path: Path) -> None:
    package = tmp_path / f"under_adk_{case.driver}"
    package.mkdir()
    (package / "__init__.py").write_text("from . import agent\n")
    (package / "agent.py").write_text(AGENT_MODULE)
    async with case.running():
        shown[:] = [case.echo()]
        command = ["run", "--jsonl", "--in_memory", str(package), "hi"]
        result = await asyncio.to_thread(CliRunner().invoke, adk, command)
    assert result.exit_code == 0, result.output
    events = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert events[-1]["content"]["parts"] == [{"text": "hi!"}]
