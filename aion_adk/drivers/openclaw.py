"""The OpenClaw command line as an agent."""

import asyncio
import contextlib
import json
import logging
import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack
from weakref import WeakKeyDictionary, WeakValueDictionary

from a2a.types import Part
from google.adk.agents.invocation_context import InvocationContext
from pydantic import Field
from typing_extensions import override

from aion_adk.drivers.answer import DriverAnswer
from aion_adk.drivers.driver import Driver, DriverItem, DriverOptions
from aion_adk.drivers.inputs import conversation_id, text_of_request
from aion_adk.errors import TaskFailed
from aion_adk.protocol.structs import json_object, list_of, object_of
from aion_adk.timeouts import SECONDS_TO_END_PROCESS

logger = logging.getLogger(__name__)

_ISOLATED = ("agent", "exec", "--json", "--message-file", "-")
# Only `agent exec` reads "-", and only `agent` has sessions.
_IN_A_SESSION = ("agent", "--local", "--json", "--message-file", "/dev/stdin")

_LOGGED = 2000

_Loop = asyncio.AbstractEventLoop
_locks: WeakKeyDictionary[_Loop, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()


class OpenClawOptions(DriverOptions, total=False):
    """Keyword options of OpenClawAgent."""

    command: Sequence[str]
    remembers: bool
    arguments: Sequence[str]
    state_dir: str | Path | None
    working_dir: str | Path | None
    env: Mapping[str, str]


class OpenClawAgent(Driver):
    """Runs `command` for each turn with the prompt on its standard input.

    Each conversation is a session of OpenClaw; with `remembers=False` each turn is an isolated
    `agent exec`. `arguments` are added to either. Runs that share a `state_dir` wait for each
    other. Each run is a process group, which is ended when the run is cancelled or times out.
    """

    command: tuple[str, ...] = Field(default=("openclaw",), min_length=1)
    remembers: bool = True
    arguments: tuple[str, ...] = ()
    state_dir: Path | None = None
    working_dir: Path | None = None
    env: dict[str, str] = Field(default_factory=dict[str, str], repr=False)

    def __init__(self, name: str, **options: Unpack[OpenClawOptions]) -> None:
        super().__init__(name=name, **options)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        locks = _locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        lock = locks.setdefault(str(self.state_dir or "").strip(), asyncio.Lock())
        async with lock:
            output = await self._run(text_of_request(ctx), session_id=conversation_id(ctx))
        answer = DriverAnswer(ctx)
        answer.add(_result_parts(_result_in(output)))
        for event in answer.final_events():
            yield event

    async def _run(self, prompt: str, *, session_id: str) -> str:
        mode = (*_IN_A_SESSION, "--session-id", session_id) if self.remembers else _ISOLATED
        state = {"OPENCLAW_STATE_DIR": str(self.state_dir)} if self.state_dir else {}
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                *mode,
                *self.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.working_dir,
                env={**os.environ, **state, **self.env},
                start_new_session=True,
            )
        except OSError as error:
            logger.exception("%s: %s could not be started", self.name, self.command[0])
            raise TaskFailed("The OpenClaw agent could not be started.") from error
        try:
            output, errors = await process.communicate(prompt.encode())
        finally:
            await _end_group(process)
        if process.returncode:
            shown = errors.decode(errors="replace")[-_LOGGED:]
            logger.warning("%s: openclaw ended with %s: %s", self.name, process.returncode, shown)
        return output.decode(errors="replace")


async def _end_group(process: asyncio.subprocess.Process) -> None:
    """Ends the process and what it started: SIGTERM, then SIGKILL."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), SECONDS_TO_END_PROCESS)
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _result_in(output: str) -> dict[str, Any]:
    """The JSON object in the command's output, which may have log lines before it."""
    candidates = [output, *reversed(output.splitlines()), output[max(output.find("{"), 0) :]]
    for candidate in candidates:
        if (found := json_object(candidate)) is not None:
            return found
    logger.error("openclaw printed no JSON object: %s", output[-_LOGGED:])
    raise TaskFailed("The OpenClaw agent gave no answer.")


def _result_parts(result: dict[str, Any]) -> list[Part]:
    if result.get("ok") is False or (result.get("error") and not result.get("payloads")):
        logger.error("openclaw failed: %s", json.dumps(result.get("error"))[:_LOGGED])
        raise TaskFailed("The OpenClaw agent failed.")
    parts: list[Part] = []
    for payload in map(object_of, list_of(result, "payloads")):
        text, media = payload.get("text"), payload.get("mediaUrl")
        if isinstance(text, str) and text:
            parts.append(Part(text=text))
        # A path on this machine is not for a caller to read.
        if isinstance(media, str) and media.startswith(("http://", "https://")):
            parts.append(Part(url=media))
    final = result.get("final")
    return parts or ([Part(text=final)] if isinstance(final, str) and final else [])
