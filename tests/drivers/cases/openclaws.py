import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aion_adk.drivers import OpenClawAgent
from tests.drivers import fake_openclaw
from tests.drivers.cases.case import SECRET, Case, Probe

COMMAND = (sys.executable, fake_openclaw.__file__)


def is_alive(pid: int) -> bool:
    """A process that has ended but that nobody has waited for is not alive."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class OpenClawCase(Case):
    driver = "openclaw"
    streams = False
    state = Path(os.devnull)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        with tempfile.TemporaryDirectory() as state:
            self.state = Path(state)
            yield

    def agent(self, name: str, mode: str, **options: Any) -> OpenClawAgent:
        env = {"FAKE_MODE": mode, "FAKE_ERROR": SECRET}
        return OpenClawAgent(name, command=COMMAND, state_dir=self.state, env=env, **options)

    def echo(self, name: str = "echo") -> OpenClawAgent:
        return self.agent(name, "echo")

    def failing(self) -> OpenClawAgent:
        return self.agent("failing", "fail")

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> OpenClawAgent:
        self._watching = asyncio.create_task(self._watch(probe, self.state / "pids"))
        return self.agent("hanging", "hang", timeout=timeout)

    def counting(self) -> OpenClawAgent:
        return self.agent("counting", "count")

    async def _watch(self, probe: Probe, file: Path) -> None:
        """Sets the probe's events when the processes have started and when all of them are gone."""
        async with asyncio.timeout(30):
            while not (file.exists() and file.read_text()):  # noqa: ASYNC110 # another process
                await asyncio.sleep(0.02)
            pids = [int(pid) for pid in file.read_text().split()]
            probe.started.set()
            while any(map(is_alive, pids)):  # noqa: ASYNC110 # other processes
                await asyncio.sleep(0.02)
        probe.cancelled.set()
