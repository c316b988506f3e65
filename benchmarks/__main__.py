"""Runs the benchmark: every peer in its own process, in turn, round after round."""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import report
from benchmarks.peers import installed
from benchmarks.process import Floor, Server
from benchmarks.scenarios import SIZES

Values = dict[str, dict[str, list[float]]]

_SECONDS_PER_SCENARIO = 120

RESULTS = Path(__file__).parent / "results"

BEFORE = "before"
"""The name of the peer that is this project as another checkout has it."""


async def measure(
    size: str, *, rounds: int, peers: list[str], before: Path | None = None
) -> AsyncGenerator[Values, None]:
    """Every figure so far, after each round."""
    values: Values = {peer: {} for peer in peers}
    for number in range(rounds):
        # Whoever is first finds the machine in another state: everybody is first once.
        shift = number % len(peers)
        await _round(size, number, peers[shift:] + peers[:shift], values, before)
        yield values


async def _round(
    size: str, number: int, peers: list[str], values: Values, before: Path | None
) -> None:
    targets = [_target(peer, size, before) for peer in peers]
    try:
        for target in targets:
            _add(values[target.name], await target.start())
        for scenario in SIZES[size]():
            if number >= scenario.rounds:
                continue
            begin = time.perf_counter()
            for target in targets:
                if not scenario.peers or target.peer in scenario.peers:
                    async with asyncio.timeout(_SECONDS_PER_SCENARIO):
                        _add(values[target.name], await target.measure(scenario))
            seconds = time.perf_counter() - begin
            print(f"round {number + 1}: {scenario.name}: {seconds:.1f} s", file=sys.stderr)
    finally:
        for target in targets:
            await target.stop()


def _target(peer: str, size: str, before: Path | None) -> Floor | Server:
    if peer == "runner":
        return Floor(size)
    if peer == BEFORE:
        return Server("aion-adk", name=BEFORE, folder=before)
    return Server(peer)


def _add(values: dict[str, list[float]], figures: dict[str, float]) -> None:
    for name, value in figures.items():
        values.setdefault(name, []).append(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_const", const="quick", dest="size")
    parser.add_argument("--size", choices=list(SIZES), default="full")
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--peers", help="comma-separated; default: all that are installed")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="CHECKOUT",
        help="measure this other checkout of the project too, and no peers unless named",
    )
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    size: str = options.size or "full"
    rounds: int = options.rounds or (3 if size == "full" else 1)
    compare: Path | None = options.compare
    if options.peers:
        peers: list[str] = options.peers.split(",")
    else:
        peers = ["aion-adk"] if compare else [*installed(), "runner"]
    # The published figures are those of all peers: a comparison leaves them alone.
    results = options.results or (RESULTS / "compare" if compare else RESULTS)
    asyncio.run(run(size, rounds=rounds, peers=peers, results=results, compare=compare))


@contextmanager
def package_of(checkout: Path) -> Generator[Path, None, None]:
    """A folder with the package of another checkout and this benchmark, which works on both."""
    package = checkout.resolve() / "aion_adk"
    if not (package / "__init__.py").is_file():
        raise SystemExit(f"--compare expects a checkout of this project, not {checkout}")
    with TemporaryDirectory() as folder:
        (Path(folder) / package.name).symlink_to(package)
        (Path(folder) / "benchmarks").symlink_to(Path(__file__).resolve().parent)
        yield Path(folder)


async def run(
    size: str, *, rounds: int, peers: list[str], results: Path, compare: Path | None = None
) -> None:
    values: Values = {}
    found: report.Medians = {}
    done = 0
    with package_of(compare) if compare else nullcontext() as before:
        peers = [BEFORE, *peers] if before else peers
        async for values in measure(size, rounds=rounds, peers=peers, before=before):
            done += 1
            found = report.medians(values)
            report.write_json(results / "results.json", values, rounds=done)
    print(report.table(found))
    print(report.target_table(report.verdicts(found)))
    if compare and "aion-adk" in peers:
        print(report.comparison(values, BEFORE, "aion-adk"))
    if not report.write_plot(results / "results.svg", found):
        print("SKIPPED the plot: matplotlib is not installed", file=sys.stderr)


if __name__ == "__main__":
    main()
