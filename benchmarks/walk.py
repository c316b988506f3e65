"""How many modules a message passes on its way, and how large each room of the package is.

A streamed and a blocking call are traced in process. A step is the call of a function of this
package; that a coroutine goes on after an `await` is none. A switch is a step into another module
than that of the step before. Python versions trace generators differently: compare figures of one
version.
"""

import argparse
import ast
import asyncio
import itertools
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.types import ASGIApp

import aion_adk
from benchmarks.agents import Trivial
from benchmarks.in_process import answer_of

PACKAGE = Path(aion_adk.__file__).parent
_FURTHER_CHUNKS = 10


@dataclass(frozen=True, slots=True)
class Walk:
    """The modules of the functions that were called, in order."""

    steps: list[str]

    @property
    def modules(self) -> list[str]:
        """In the order in which they were first touched."""
        return list(dict.fromkeys(self.steps))

    @property
    def switches(self) -> int:
        return sum(here != there for here, there in itertools.pairwise(self.steps))


@dataclass(slots=True)
class Room:
    """A folder of the package with all that is in it."""

    lines: int = 0
    filled: int = 0
    files: int = 0
    functions: int = 0

    def add(self, source: str) -> None:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        self.lines += source.count("\n")
        self.filled += sum(1 for line in source.splitlines() if line.strip())
        self.files += 1
        self.functions += sum(isinstance(node, kinds) for node in ast.walk(ast.parse(source)))


async def walk_of(app: ASGIApp, method: str, *, chunks: int) -> Walk:
    """Follows a call until everything that it started has ended."""
    root = f"{PACKAGE}/"
    steps: list[str] = []
    # Frames are kept: the id of one that is gone is given to another.
    known: set[FrameType] = set()

    def on_event(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(root) and frame not in known:
            known.add(frame)
            steps.append(file.removeprefix(root))

    before = asyncio.all_tasks()
    sys.setprofile(on_event)
    try:
        body = await answer_of(app, method, f"chunks {chunks} 0")
        if begun := asyncio.all_tasks() - before:
            await asyncio.wait(begun, timeout=5)
    finally:
        sys.setprofile(None)
    if b"TASK_STATE_COMPLETED" not in body:
        raise RuntimeError(f"not completed: {body[-500:]!r}")
    return Walk(steps)


async def walks(*, chunks: int) -> dict[str, Walk]:
    """Of each kind of call the second: the first one makes what later ones find."""
    calls = {
        "streamed": ("SendStreamingMessage", chunks),
        "longer": ("SendStreamingMessage", chunks + _FURTHER_CHUNKS),
        "blocking": ("SendMessage", chunks),
    }
    app = aion_adk.to_a2a(Trivial(name="trivial"))
    found: dict[str, Walk] = {}
    async with app.running():
        for name, (method, count) in calls.items():
            await walk_of(app, method, chunks=count)
            found[name] = await walk_of(app, method, chunks=count)
    return found


def rooms(package: Path = PACKAGE) -> dict[str, Room]:
    """By folder; the modules beside the folders are in the room of the package's name."""
    found: dict[str, Room] = {}
    for file in sorted(package.rglob("*.py")):
        inside = file.relative_to(package).parts
        name = inside[0] if len(inside) > 1 else package.name
        found.setdefault(name, Room()).add(file.read_text())
    return found


def report(found: dict[str, Walk], sizes: dict[str, Room]) -> str:
    streamed, longer = found["streamed"], found["longer"]
    lines = [f"{'':20}{'modules':>10}{'switches':>10}{'steps':>10}"]
    for name in ("streamed", "blocking"):
        walk = found[name]
        lines.append(
            f"{name:20}{len(walk.modules):10,}{walk.switches:10,}{len(walk.steps):10,}",
        )
    switches = (longer.switches - streamed.switches) / _FURTHER_CHUNKS
    steps = (len(longer.steps) - len(streamed.steps)) / _FURTHER_CHUNKS
    lines += [f"{'each further chunk':20}{'':10}{switches:10.1f}{steps:10.1f}", ""]
    lines.append(f"{'room':20}{'lines':>10}{'not blank':>10}{'files':>10}{'functions':>10}")
    total = Room(
        sum(room.lines for room in sizes.values()),
        sum(room.filled for room in sizes.values()),
        sum(room.files for room in sizes.values()),
        sum(room.functions for room in sizes.values()),
    )
    for name, room in [*sizes.items(), ("total", total)]:
        figures = (room.lines, room.filled, room.files, room.functions)
        lines.append(f"{name:20}" + "".join(f"{figure:10,}" for figure in figures))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walk", description=__doc__)
    parser.add_argument("--chunks", type=int, default=2)
    parser.add_argument(
        "--modules", action="store_true", help="list the modules of a streamed call"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = asyncio.run(walks(chunks=options.chunks))
    print(report(found, rooms()))
    if options.modules:
        print("", *found["streamed"].modules, sep="\n")


if __name__ == "__main__":
    main()
