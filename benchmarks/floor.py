"""ADK's Runner alone, in process: what no bridge around it can be cheaper than.

Run as a module it reads the numbers of scenarios from its input, one a line, and writes their
figures as JSON, so that it is measured in turn with the peers.
"""

import asyncio
import json
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.genai import types

from benchmarks.agents import Trivial
from benchmarks.client import Answer
from benchmarks.process import resident_bytes
from benchmarks.scenarios import SIZES

_runner = InMemoryRunner(agent=Trivial(name="trivial"), app_name="trivial")
_runner.auto_create_session = True


async def turn_events(text: str, *, context_id: str | None = None) -> AsyncIterator[Event]:
    """Every event of one turn."""
    context_id = context_id or str(uuid.uuid4())
    content = types.Content(role="user", parts=[types.Part(text=text)])
    async for event in _runner.run_async(
        user_id=f"user-{context_id}",
        session_id=context_id,
        new_message=content,
        run_config=RunConfig(),
    ):
        yield event


class RunnerAlone:
    """Calls the Runner as a client calls a server."""

    folder = None

    def __init__(self) -> None:
        self._held: list[AsyncIterator[Event]] = []

    async def send(self, text: str, *, context_id: str = "") -> Answer:
        sent = time.perf_counter()
        first = 0.0
        async for _ in turn_events(text, context_id=context_id):
            first = first or time.perf_counter()
        return Answer(sent, first, time.perf_counter(), b"")

    async def stream(self, text: str, *, chunks: int) -> Answer:
        return await self.send(text)

    async def stream_to(self, front: str, text: str, *, chunks: int) -> Answer:
        raise NotImplementedError(f"the Runner serves no {front} clients")

    async def hold(self, text: str) -> None:
        events = turn_events(text)
        await anext(events)
        self._held.append(events)

    async def stall(self, text: str, *, context_id: str) -> Callable[[], Awaitable[Answer]]:
        raise NotImplementedError("the Runner streams to no reader that could stop")

    def cpu_seconds(self) -> float:
        return time.process_time()

    def resident_bytes(self) -> int:
        return resident_bytes("self")


async def main(size: str) -> None:
    scenarios = SIZES[size]()
    target = RunnerAlone()
    for line in sys.stdin:
        figures = await scenarios[int(line)].measure(target)
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
