import asyncio
from asyncio.subprocess import Process
from typing import Any

import pytest
from a2a.types import TaskState

from aion_adk import ADKAgentExecutor, ServerOptions
from aion_adk.drivers import OpenClawAgent, load_agent
from aion_adk.server.build import runner_for
from tests.drivers.cases.openclaws import COMMAND, OpenClawCase
from tests.handling import ask_in_background, handler_of, until_idle
from tests.serving import reply_of, send, serving


async def answer_in(mode: str, text: str = "hi") -> Any:
    case = OpenClawCase()
    async with case.running(), serving(case.agent("claw", mode)) as url:
        return await send(url, text)


@pytest.mark.parametrize("mode", ["older", "final"])
async def test_every_shape_of_result_is_read(mode: str) -> None:
    assert reply_of(await answer_in(mode, 'a "quoted"\nprompt')) == 'a "quoted"\nprompt'


async def test_a_turn_without_memory_is_an_isolated_one() -> None:
    case = OpenClawCase()
    async with case.running(), serving(case.agent("claw", "echo", remembers=False)) as url:
        task = await send(url, "hi")
        assert (case.state / "isolated.log").exists()
    assert reply_of(task) == "hi!"


async def test_links_are_passed_on_and_paths_are_not() -> None:
    message = (await answer_in("media")).status.message
    assert [part.text or part.url for part in message.parts] == [
        "see",
        "https://e.test/a.png",
        "see",
    ]


async def test_a_command_that_prints_nothing_fails_the_task() -> None:
    task = await answer_in("silent")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert reply_of(task) == "The OpenClaw agent gave no answer."


async def test_a_command_that_is_not_there_fails_the_task() -> None:
    async with serving(OpenClawAgent("claw", command=["/nowhere/openclaw"])) as url:
        task = await send(url, "hi")
    assert reply_of(task) == "The OpenClaw agent could not be started."


async def test_runs_on_one_state_directory_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands: list[Any] = []
    start_process = asyncio.create_subprocess_exec

    async def count_and_start(*command: Any, **options: Any) -> Process:
        commands.append(command)
        return await start_process(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", count_and_start)
    case = OpenClawCase()
    async with case.running():
        runner = runner_for(case.agent("claw", "overlap"), ServerOptions())
        handler = handler_of(ADKAgentExecutor(runner))
        runs = [ask_in_background(handler, "hi") for _ in range(3)]
        async with asyncio.timeout(10):
            while not (case.state / "running").exists():  # noqa: ASYNC110 # another process
                await asyncio.sleep(0.01)
        await until_idle()
        assert len(commands) == 1
        (case.state / "go").touch()
        tasks = await asyncio.gather(*runs)
    assert [reply_of(task) for task in tasks] == ["alone"] * 3


def test_the_command_can_come_from_a_configuration() -> None:
    agent = load_agent(
        {"driver": "openclaw", "name": "claw", "command": list(COMMAND), "env": {"KEY": "k-123"}}
    )
    assert isinstance(agent, OpenClawAgent)
    assert agent.command == COMMAND
    assert "k-123" not in repr(agent)
