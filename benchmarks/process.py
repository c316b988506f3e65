"""The processes under test: started, timed, looked into, stopped."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.client import Client
from benchmarks.scenarios import SIZES, Figures, Scenario

# ADK warns of each experimental class it makes.
_PYTHON = (sys.executable, "-W", "ignore::UserWarning", "-m")
_PAGE = 4096
_SECONDS_TO_START = 60


def resident_bytes(pid: int | str) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def cpu_seconds(pid: int | str) -> float:
    """Time on a CPU, of every thread, in nanosecond steps."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


class Server(Client):
    """A peer in a process of its own, with its startup time.

    What is imported comes from `folder` first, so that another version of this project is served.
    """

    def __init__(self, peer: str, *, name: str = "", folder: Path | None = None) -> None:
        self.name = name or peer
        self.peer = peer
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        super().__init__(port)
        self._command = [*_PYTHON, "benchmarks.peers", peer, str(port)]
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> Figures:
        begin = time.perf_counter()
        self._process = subprocess.Popen(  # noqa: ASYNC220 # returns at once
            self._command, cwd=self.folder
        )
        async with asyncio.timeout(_SECONDS_TO_START):
            while not await self._answers():
                if self._process.poll() is not None:
                    raise RuntimeError(f"{self.name} ended while starting")
                await asyncio.sleep(0.01)
        return {
            "startup_s": time.perf_counter() - begin,
            "startup_mb": self.resident_bytes() / 1024**2,
        }

    async def measure(self, scenario: Scenario) -> Figures:
        return await scenario.measure(self)

    async def stop(self) -> None:
        await self.close()
        if self._process:
            _end(self._process)

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._pid)

    def resident_bytes(self) -> int:
        return resident_bytes(self._pid)

    @property
    def _pid(self) -> int:
        assert self._process
        return self._process.pid

    async def _answers(self) -> bool:
        try:
            await self.card()
        except OSError:
            return False
        return True


class Floor:
    """The Runner alone, in a process of its own that reads what to measure next."""

    name = peer = "runner"
    folder = None

    def __init__(self, size: str) -> None:
        self._size = size
        self._names = [scenario.name for scenario in SIZES[size]()]
        self._process: subprocess.Popen[str] | None = None

    async def start(self) -> Figures:
        command = [*_PYTHON, "benchmarks.floor", self._size]
        self._process = subprocess.Popen(  # noqa: ASYNC220 # returns at once
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return {}

    async def measure(self, scenario: Scenario) -> Figures:
        assert self._process
        assert self._process.stdin
        assert self._process.stdout
        print(self._names.index(scenario.name), file=self._process.stdin, flush=True)
        line = await asyncio.to_thread(self._process.stdout.readline)
        figures: Figures = json.loads(line)
        return figures

    async def stop(self) -> None:
        if self._process:
            _end(self._process)


def _end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
