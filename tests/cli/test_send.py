import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from a2a.types import Artifact, Message, Part, Role, Task, TaskStatus
from click.testing import CliRunner, Result
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from pydantic import Field, SkipValidation
from starlette.applications import Starlette

from aion_adk import A2AOutbox, TaskFailed, emit_data, emit_file, emit_message, inbox_of, reply
from aion_adk.cli import main
from tests.agents import text_event
from tests.serving import listening, serving


async def send(*arguments: str) -> Result:
    """Runs `aion-adk send` in a thread: it has an event loop of its own."""
    runner = CliRunner()
    return await asyncio.to_thread(runner.invoke, main, ["send", *arguments])


class Streaming(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "one ", partial=True)
        yield text_event(self, ctx, "two", partial=True)
        yield text_event(self, ctx, "one two")


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
async def test_the_answer_is_shown_once_and_alone_on_standard_output(how: str) -> None:
    async with serving(Streaming(name="streaming")) as url:
        result = await send(url, "hi", how)
    assert (result.stdout, result.exit_code) == ("one two\n", 0)
    assert "Continue with: --context " in result.stderr


async def test_json_prints_every_frame_and_nothing_else() -> None:
    async with serving(Streaming(name="streaming")) as url:
        result = await send(url, "hi", "--json")
    frames = [json.loads(line) for line in result.stdout.splitlines()]
    assert next(iter(frames[0])) == "task"
    assert frames[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert sum("artifactUpdate" in frame for frame in frames) == 3


class Waiting(BaseAgent):
    go_on: SkipValidation[asyncio.Event] = Field(default_factory=asyncio.Event)

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "first ", partial=True)
        await self.go_on.wait()
        yield text_event(self, ctx, "last", partial=True)
        yield text_event(self, ctx, "first last")


async def test_the_command_that_continues_is_safe_to_paste() -> None:
    async with serving(Streaming(name="streaming")) as url:
        result = await send(url, "hi", "--context", "c; reboot")
    assert "--context 'c; reboot'" in result.stderr


async def test_text_is_on_standard_output_before_the_agent_has_finished() -> None:
    agent = Waiting(name="waiting")
    async with serving(agent) as url, asyncio.timeout(40):
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "aion_adk", "send", url, "hi", stdout=asyncio.subprocess.PIPE
        )
        assert program.stdout
        first = await program.stdout.read(100)
        agent.go_on.set()
        rest, _ = await program.communicate()
    assert (first, rest) == (b"first ", b"last\n")


async def test_an_interrupted_client_prints_that_the_task_keeps_running() -> None:
    async with serving(Waiting(name="waiting")) as url, asyncio.timeout(40):
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "aion_adk", "send", url, "hi"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert program.stdout
        await program.stdout.read(100)
        program.send_signal(signal.SIGINT)
        _, problems = await program.communicate()
    assert program.returncode == 130
    assert re.fullmatch(rb"Stopped waiting; task [0-9a-f-]{36} keeps running\.\n", problems)


class Describing(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        message = inbox_of(ctx).message
        kinds = [part.WhichOneof("content") or "" for part in message.parts]
        names = [f"{part.filename} {part.media_type}" for part in message.parts if part.filename]
        reply(ctx, f"{kinds} {names} {inbox_of(ctx).headers.get('x-who')} {message.context_id}")
        yield Event(author=self.name, invocation_id=ctx.invocation_id)


async def test_text_files_data_headers_and_context_are_sent(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    file = str(tmp_path / "a.json")
    async with serving(Describing(name="describing")) as url:
        result = await send(
            url, "hi", "--file", file, "--file", file, "--data", "[1]",
            "--header", "X-Who: me", "--context", "c-1",
        )  # fmt: skip
    assert result.stdout == (
        "['text', 'raw', 'raw', 'data']"
        " ['a.json application/json', 'a.json application/json'] me c-1\n"
    )


class Sender(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_message(ctx, "working on it")
        emit_file(ctx, data=b"abc", mime_type="text/plain", name="../../a.txt", last_chunk=False)
        emit_file(ctx, data=b"def", mime_type="text/plain", name="../../a.txt", append=True)
        emit_file(ctx, url="https://x.example/b.pdf", mime_type="application/pdf", name="b.pdf")
        emit_data(ctx, {"n": 1}, name="numbers")
        yield text_event(self, ctx, "sent")


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
async def test_files_are_saved_whole_and_data_and_links_are_shown(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "in"
    async with serving(Sender(name="sender")) as url:
        result = await send(url, "hi", "--save-to", str(folder), how)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a.txt": b"abcdef"}
    assert "https://x.example/b.pdf" in result.stderr
    assert '{\n  "n": 1\n}' in result.stdout
    assert result.stdout.endswith("sent\n")


class Deciding(BaseAgent):
    """Ends its task in the state that the message names."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        state = inbox_of(ctx).message.parts[0].text
        message = Message(role=Role.ROLE_AGENT, parts=[Part(text="as you wish")])
        task = Task(status=TaskStatus(state=state, message=message))
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(state_delta={"a2a_outbox": A2AOutbox(task=task)}),
        )


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("TASK_STATE_COMPLETED", 0),
        ("TASK_STATE_FAILED", 1),
        ("TASK_STATE_REJECTED", 1),
        ("TASK_STATE_INPUT_REQUIRED", 3),
        ("TASK_STATE_AUTH_REQUIRED", 3),
    ],
)
async def test_the_exit_code_shows_how_the_task_ended(state: str, code: int) -> None:
    async with serving(Deciding(name="deciding")) as url:
        result = await send(url, state)
    assert result.exit_code == code
    assert "as you wish" in result.output


async def test_a_task_that_waits_comes_with_the_command_that_answers_it() -> None:
    async with serving(Deciding(name="deciding")) as url:
        asked = await send(url, "TASK_STATE_INPUT_REQUIRED")
        command = asked.stderr.strip().splitlines()[-1].split()
        assert command[:3] == ["aion-adk", "send", url]
        answered = await send(url, "TASK_STATE_COMPLETED", *command[-2:])
    assert answered.exit_code == 0


class Failing(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "half a sen", partial=True)
        raise TaskFailed("no more ink")


async def test_a_failure_is_printed_after_the_text() -> None:
    async with serving(Failing(name="failing")) as url:
        result = await send(url, "hi")
    assert (result.stdout, result.exit_code) == ("half a sen\n", 1)
    assert result.stderr == "no more ink\nThe task ended: failed.\n"


class Driving(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "\x1b]0;title\x07\x1b[2Jred\r\nline\x9b31m\tend")


async def test_an_agent_cannot_control_the_terminal() -> None:
    async with serving(Driving(name="driving")) as url:
        result = await send(url, "hi")
    assert result.stdout == "]0;title[2Jred\nline31m\tend\n"


async def test_a_server_that_is_not_there_is_reported_in_one_line() -> None:
    result = await send("http://127.0.0.1:1", "hi")
    assert result.exit_code == 4
    assert result.stderr == "Cannot connect to http://127.0.0.1:1: is a server running there?\n"


async def test_a_server_without_an_agent_is_reported_in_one_line() -> None:
    async with listening(lambda _: Starlette()) as url:
        result = await send(url, "hi")
    assert result.exit_code == 4
    assert result.stderr == (
        f"No agent at {url}: the request for its card failed with HTTP 404."
        " The agents of a folder are each served under /a2a/<name>.\n"
    )


async def test_a_refusal_is_reported_in_one_line() -> None:
    async with serving(Streaming(name="streaming")) as url:
        result = await send(url, "hi", "--task", "unknown")
    assert result.exit_code == 4
    assert result.stderr == "The server refused the call: Task unknown not found.\n"


async def test_text_can_come_from_standard_input() -> None:
    async with serving(Describing(name="describing")) as url:
        runner = CliRunner()
        result = await asyncio.to_thread(runner.invoke, main, ["send", url, "-"], input="piped")
    assert result.stdout.startswith("['text']")


def artifacts(names: Sequence[str]) -> list[Artifact]:
    return [
        Artifact(artifact_id=name, name=name, parts=[Part(text=f"text of {name}")])
        for name in names
    ]


class Documenting(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        task = Task(artifacts=artifacts(["a", "b"]))
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(state_delta={"a2a_outbox": A2AOutbox(task=task)}),
        )


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
async def test_text_artifacts_are_shown_under_their_names(how: str) -> None:
    async with serving(Documenting(name="documenting")) as url:
        result = await send(url, "hi", how)
    assert result.stdout == "text of a\ntext of b\n"
    assert result.stderr.startswith("a:\nb:\n")
