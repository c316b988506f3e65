"""What is measured, the same for every peer and for ADK's Runner alone."""

import asyncio
import importlib.util
import json
import math
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.client import FRONTS, Answer

Figures = dict[str, float]

_FRAME = b"data: "
_SECONDS_A_SAMPLE = 0.01


class Target(Protocol):
    """A server in its own process, or the Runner in this one."""

    @property
    def folder(self) -> Path | None: ...
    async def send(self, text: str, *, context_id: str = "") -> Answer: ...
    async def stream(self, text: str, *, chunks: int) -> Answer: ...
    async def stream_to(self, front: str, text: str, *, chunks: int) -> Answer: ...
    async def hold(self, text: str) -> None: ...
    async def stall(self, text: str, *, context_id: str) -> Callable[[], Awaitable[Answer]]: ...
    def cpu_seconds(self) -> float: ...
    def resident_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Scenario:
    """A measurement, how often it is repeated at most, and whether the Runner can do it too."""

    name: str
    measure: Callable[[Target], Awaitable[Figures]]
    rounds: int = 100
    peers: tuple[str, ...] = ()


def send_message(concurrency: int, requests: int) -> Scenario:
    async def measure(target: Target) -> Figures:
        await _calls(target, concurrency, concurrency * 2)
        cpu, begin = target.cpu_seconds(), time.perf_counter()
        latencies = await _calls(target, concurrency, requests)
        seconds = time.perf_counter() - begin
        name = f"send_c{concurrency}"
        return {
            f"{name}_per_s": requests / seconds,
            f"{name}_p50_ms": statistics.median(latencies) * 1e3,
            f"{name}_p99_ms": _percentile(latencies, 99) * 1e3,
            f"{name}_cpu_ms": (target.cpu_seconds() - cpu) / requests * 1e3,
        }

    return Scenario(f"SendMessage at concurrency {concurrency}", measure)


def stream(
    chunks: int,
    *,
    milliseconds: int = 0,
    repeat: int = 1,
    rounds: int = 100,
    **only: tuple[str, ...],
) -> Scenario:
    name = f"{'paced' if milliseconds else 'stream'}_{chunks}"

    async def measure(target: Target) -> Figures:
        cpu, answers = target.cpu_seconds(), list[Answer]()
        for _ in range(repeat):
            answers.append(await target.stream(f"chunks {chunks} {milliseconds}", chunks=chunks))
        cpu = target.cpu_seconds() - cpu
        seconds = statistics.median(answer.end - answer.sent for answer in answers)
        figures = {f"{name}_cpu_us": cpu / (repeat * chunks) * 1e6}
        if not milliseconds:
            figures[f"{name}_per_s"] = chunks / seconds
        if frames := [answer.body.count(_FRAME) for answer in answers if answer.body]:
            figures[f"{name}_frames"] = statistics.median(frames)
        return figures

    return Scenario(f"{chunks} chunks, {milliseconds} ms apart", measure, rounds=rounds, **only)


def fronts(chunks: int, *, repeat: int = 1) -> Scenario:
    """CPU per chunk for clients of other protocols, with A2A between them."""

    async def measure(target: Target) -> Figures:
        figures = {f"front_{name}_cpu_us": 0.0 for name in ("a2a", *FRONTS)}
        for name in FRONTS:
            await _stream_to(target, name, 20)
        for _ in range(repeat):
            for name in ("a2a", *FRONTS):
                cpu = target.cpu_seconds()
                await _stream_to(target, name, chunks)
                spent = target.cpu_seconds() - cpu
                figures[f"front_{name}_cpu_us"] += spent / (repeat * chunks) * 1e6
        return figures

    return Scenario(f"{chunks} chunks to other clients", measure, peers=("aion-adk",))


def graphs(chunks: int, *, repeat: int = 3) -> Scenario:
    """CPU per chunk of a LangGraph graph behind its driver, in a process of its own."""

    async def measure(target: Target) -> Figures:
        if not importlib.util.find_spec("langgraph"):
            print("SKIPPED the graphs: langgraph is not installed", file=sys.stderr)
            return {}
        options = ("--chunks", str(chunks), "--rounds", str(repeat))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-W", "ignore", "-m", "benchmarks.graphs", *options),
            stdout=asyncio.subprocess.PIPE,
            cwd=target.folder,
        )
        written, _ = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"benchmarks.graphs ended with {process.returncode}")
        figures: Figures = json.loads(written)
        return figures

    return Scenario(f"{chunks} chunks of a graph", measure, rounds=1, peers=("aion-adk",))


async def _stream_to(target: Target, name: str, chunks: int) -> None:
    if name == "a2a":
        await target.stream(f"chunks {chunks} 0", chunks=chunks)
    else:
        await target.stream_to(name, f"chunks {chunks} 0", chunks=chunks)


def first_delta(repeat: int) -> Scenario:
    async def measure(target: Target) -> Figures:
        times = list[float]()
        for _ in range(repeat):
            answer = await target.stream("chunks 3 5", chunks=3)
            times.append(answer.first_delta - answer.sent)
        return {"first_delta_ms": statistics.median(times) * 1e3}

    return Scenario("time to first delta", measure)


def partials_inside(chunks: int, repeat: int = 1) -> Scenario:
    async def measure(target: Target) -> Figures:
        times = list[float]()
        for _ in range(repeat):
            answer = await target.send(f"chunks {chunks} 0")
            times.append(answer.end - answer.sent)
        return {f"inside_{chunks}_ms": statistics.median(times) * 1e3}

    return Scenario(f"SendMessage, {chunks} partials inside", measure)


def turns(last: int, *, rounds: int = 100) -> Scenario:
    """The CPU time of the first turn and of later ones: means over the turns up to each."""

    async def measure(target: Target) -> Figures:
        base = f"context-{time.monotonic_ns()}"
        figures = {"turn_1_ms": await _cpu_of(target, [f"{base}-{each}" for each in range(10)])}
        taken = 0
        for turn in (turn for turn in (10, 100, 300) if turn <= last):
            around = max(2, turn // 20)
            await _cpu_of(target, [base] * (turn - around - taken))
            figures[f"turn_{turn}_ms"] = await _cpu_of(target, [base] * around)
            taken = turn
        return figures

    return Scenario(f"{last} turns of one context", measure, rounds=rounds)


async def _cpu_of(target: Target, contexts: list[str]) -> float:
    """Milliseconds of CPU for a turn in each of the contexts, one after the other."""
    cpu = target.cpu_seconds()
    for context_id in contexts:
        await _turn(target, context_id)
    return (target.cpu_seconds() - cpu) / len(contexts) * 1e3


def finished_tasks(count: int, *, rounds: int = 100) -> Scenario:
    async def measure(target: Target) -> Figures:
        await _calls(target, 16, count // 2)
        before = target.resident_bytes()
        await _calls(target, 16, count)
        return {"task_kb": (target.resident_bytes() - before) / count / 1024}

    return Scenario(f"memory of {count} finished tasks", measure, rounds=rounds)


def open_streams(count: int, *, rounds: int = 100) -> Scenario:
    async def measure(target: Target) -> Figures:
        await _hold(target, count // 4)
        before = target.resident_bytes()
        await _hold(target, count)
        return {"open_stream_kb": (target.resident_bytes() - before) / count / 1024}

    return Scenario(f"memory of {count} open streams", measure, rounds=rounds)


def stalled_reader(sections: int, *, rounds: int = 100) -> Scenario:
    """What the server grows by, at most, while it streams to a reader that takes nothing."""

    async def measure(target: Target) -> Figures:
        context_id = f"stalled-{time.monotonic_ns()}"
        await target.send("flood 5")
        before = most = target.resident_bytes()
        rest = await target.stall(f"flood {sections}", context_id=context_id)
        # A turn of the same context runs when the flood is over.
        following = asyncio.ensure_future(target.send("echo", context_id=context_id))
        while not following.done():
            most = max(most, target.resident_bytes())
            await asyncio.wait({following}, timeout=_SECONDS_A_SAMPLE)
        await following
        await rest()
        return {"stalled_reader_mb": (most - before) / 1024**2}

    name = f"memory for a reader that stopped, {sections} sections"
    return Scenario(name, measure, rounds=rounds, peers=("aion-adk",))


async def _hold(target: Target, count: int) -> None:
    for _ in range(0, count, 10):
        await asyncio.gather(*(target.hold("hold") for _ in range(10)))


async def _turn(target: Target, context_id: str) -> float:
    answer = await target.send("echo", context_id=context_id)
    return answer.end - answer.sent


async def _calls(target: Target, concurrency: int, count: int) -> list[float]:
    latencies = list[float]()

    async def lane() -> None:
        for _ in range(math.ceil(count / concurrency)):
            latencies.append(await _turn(target, ""))

    await asyncio.gather(*(lane() for _ in range(concurrency)))
    return latencies


def _percentile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * percent / 100) - 1)]


OURS = ("aion-adk", "runner")


def full() -> list[Scenario]:
    return [
        send_message(1, 100),
        send_message(16, 480),
        send_message(64, 512),
        first_delta(15),
        stream(50, repeat=10),
        stream(500, repeat=2),
        stream(2000),
        stream(10_000, peers=OURS),
        stream(50, milliseconds=5, repeat=4, rounds=1),
        stream(500, milliseconds=5, rounds=2),
        partials_inside(2000, repeat=3),
        fronts(1000, repeat=2),
        graphs(1000),
        stream(2000, milliseconds=5, rounds=1, peers=("adk", *OURS)),
        turns(300, rounds=1),
        finished_tasks(1000, rounds=1),
        open_streams(200, rounds=2),
        stalled_reader(80, rounds=2),
    ]


def quick() -> list[Scenario]:
    return [
        send_message(1, 50),
        send_message(16, 320),
        send_message(64, 256),
        first_delta(9),
        stream(50, repeat=5),
        stream(500),
        stream(2000),
        stream(10_000, peers=OURS),
        stream(500, milliseconds=5),
        partials_inside(2000),
        fronts(1000, repeat=2),
        graphs(1000),
        open_streams(100, rounds=1),
        stalled_reader(80, rounds=1),
        turns(300, rounds=1),
        finished_tasks(500, rounds=1),
    ]


def tiny() -> list[Scenario]:
    """Every kind of measurement once, as small as it can be."""
    return [
        send_message(1, 2),
        first_delta(1),
        stream(20),
        stream(5, milliseconds=1),
        partials_inside(20),
        fronts(10),
        graphs(10, repeat=1),
        turns(10),
        finished_tasks(32),
        open_streams(10),
        stalled_reader(8),
    ]


SIZES = {"full": full, "quick": quick, "tiny": tiny}
