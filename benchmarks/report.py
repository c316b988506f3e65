"""Medians, the targets they are held against, and how both are shown."""

import importlib
import importlib.util
import json
import platform
import statistics
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from pathlib import Path
from typing import Any

Medians = dict[str, dict[str, float]]
"""Peer to figure to median."""

_PACKAGES = ("google-adk", "a2a-sdk", "a2a-adapter", "starlette", "uvicorn", "uvloop", "httptools")

LABELS = {
    "send_c1_per_s": "SendMessage, 1 at a time: requests/s",
    "send_c1_p50_ms": "… p50, ms",
    "send_c1_p99_ms": "… p99, ms",
    "send_c1_cpu_ms": "… CPU per request, ms",
    "send_c16_per_s": "SendMessage, 16 at once: requests/s",
    "send_c16_p50_ms": "… p50, ms",
    "send_c16_p99_ms": "… p99, ms",
    "send_c16_cpu_ms": "… CPU per request, ms",
    "send_c64_per_s": "SendMessage, 64 at once: requests/s",
    "send_c64_p50_ms": "… p50, ms",
    "send_c64_p99_ms": "… p99, ms",
    "send_c64_cpu_ms": "… CPU per request, ms",
    "first_delta_ms": "Time to first delta, ms",
    "stream_50_per_s": "Stream of 50: chunks/s",
    "stream_50_cpu_us": "… CPU per chunk, µs",
    "stream_50_frames": "… frames",
    "stream_500_per_s": "Stream of 500: chunks/s",
    "stream_500_cpu_us": "… CPU per chunk, µs",
    "stream_500_frames": "… frames",
    "stream_2000_per_s": "Stream of 2,000: chunks/s",
    "stream_2000_cpu_us": "… CPU per chunk, µs",
    "stream_2000_frames": "… frames",
    "stream_10000_per_s": "Stream of 10,000: chunks/s",
    "stream_10000_cpu_us": "… CPU per chunk, µs",
    "stream_10000_frames": "… frames",
    "paced_50_cpu_us": "50 chunks, 5 ms apart: CPU per chunk, µs",
    "paced_50_frames": "… frames",
    "paced_500_cpu_us": "500 chunks, 5 ms apart: CPU per chunk, µs",
    "paced_500_frames": "… frames",
    "paced_2000_cpu_us": "2,000 chunks, 5 ms apart: CPU per chunk, µs",
    "paced_2000_frames": "… frames",
    "front_a2a_cpu_us": "1,000 chunks to an A2A client: CPU per chunk, µs",
    "front_agui_cpu_us": "… to an AG-UI client",
    "front_chat_cpu_us": "… to an OpenAI Chat client",
    "front_responses_cpu_us": "… to an OpenAI Responses client",
    "graph_alone_cpu_us": "1,000 chunks of a LangGraph graph alone: CPU per chunk, µs",
    "graph_native_cpu_us": "… of a native agent over A2A, in the same process",
    "graph_driver_cpu_us": "… of the graph over A2A",
    "inside_2000_ms": "SendMessage with 2,000 partials inside, ms",
    "turn_1_ms": "Turn 1 of a context: CPU, ms",
    "turn_10_ms": "Turn 10: CPU, ms",
    "turn_100_ms": "Turn 100: CPU, ms",
    "turn_300_ms": "Turn 300: CPU, ms",
    "task_kb": "Memory per finished task, KB",
    "open_stream_kb": "Memory per open stream, KB",
    "stalled_reader_mb": "Memory at most for a reader that stopped, 32 MB of text, MB",
    "startup_s": "Start-up, s",
    "startup_mb": "Memory after start-up, MB",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target of this project, what was wanted and what came."""

    target: str
    wanted: str
    measured: float
    reached: bool


def medians(values: dict[str, dict[str, list[float]]]) -> Medians:
    return {
        peer: {name: statistics.median(each) for name, each in figures.items()}
        for peer, figures in values.items()
    }


def verdicts(found: Medians) -> list[Verdict]:
    """The targets that this run has the figures for."""
    return list(_verdicts(found))


def _verdicts(found: Medians) -> Iterable[Verdict]:
    ours = found.get("aion-adk", {})
    adk, bare, runner = (found.get(name, {}) for name in ("adk", "a2a-sdk", "runner"))

    def ratio(
        target: str, name: str, peer: dict[str, float], *, least: float = 0, most: float = 0
    ) -> Iterable[Verdict]:
        if name in ours and peer.get(name):
            value = ours[name] / peer[name]
            reached = value >= least if least else value <= most
            wanted = f"at least {least:g}×" if least else f"at most {most:g}×"
            yield Verdict(target, wanted, value, reached)

    def limit(target: str, value: Callable[[], float], most: float, unit: str) -> Iterable[Verdict]:
        try:
            measured = value()
        except KeyError:
            return
        yield Verdict(target, f"at most {most:.4g}{unit}", measured, measured <= most)

    yield from ratio("SendMessage/s at 16, against ADK", "send_c16_per_s", adk, least=3)
    yield from ratio("SendMessage/s at 16, against bare a2a-sdk", "send_c16_per_s", bare, least=1.8)
    yield from ratio("p99 at 16, against ADK", "send_c16_p99_ms", adk, most=0.25)
    yield from ratio("p99 at 64, against ADK", "send_c64_p99_ms", adk, most=0.25)
    yield from ratio("chunks/s of 2,000, against ADK", "stream_2000_per_s", adk, least=6)
    yield from ratio("CPU per chunk of 2,000, against ADK", "stream_2000_cpu_us", adk, most=0.2)
    for other in (500, 10_000):
        yield from limit(
            f"CPU per chunk of 2,000, against that of {other:,}",
            lambda other=other: ours["stream_2000_cpu_us"] / ours[f"stream_{other}_cpu_us"],
            1.2,
            "×",
        )
    yield from limit(
        "CPU per chunk of 10,000, against that of 2,000",
        lambda: ours["stream_10000_cpu_us"] / ours["stream_2000_cpu_us"],
        1.2,
        "×",
    )
    yield from ratio("CPU per paced chunk, against ADK", "paced_500_cpu_us", adk, most=0.5)
    yield from ratio("time to first delta, against ADK", "first_delta_ms", adk, most=0.5)
    yield from ratio(
        "time with 2,000 partials inside, against ADK", "inside_2000_ms", adk, most=1 / 8
    )
    if "turn_300_ms" in runner and "turn_300_ms" in ours:
        most = runner["turn_300_ms"] + ours["turn_1_ms"]
        yield from limit(
            "CPU of turn 300, against the Runner's plus our turn 1",
            lambda: ours["turn_300_ms"],
            most,
            " ms",
        )
    for front in ("agui", "chat", "responses"):
        yield from limit(
            f"CPU per chunk of {front}, against plain A2A",
            lambda front=front: ours[f"front_{front}_cpu_us"] / ours["front_a2a_cpu_us"],
            1.5,
            "×",
        )
    yield from limit(
        "CPU per chunk of a LangGraph graph, against graph and native agent",
        lambda: (
            ours["graph_driver_cpu_us"] / (ours["graph_alone_cpu_us"] + ours["graph_native_cpu_us"])
        ),
        1.5,
        "×",
    )
    yield from limit("memory per finished task", lambda: ours["task_kb"], 12, " KB")
    yield from limit("memory per open stream", lambda: ours["open_stream_kb"], 100, " KB")
    yield from limit("memory for a stopped reader", lambda: ours["stalled_reader_mb"], 20, " MB")
    yield from limit("frames for 2,000 chunks", lambda: ours["stream_2000_frames"], 1600, "")


def table(found: Medians) -> str:
    """A Markdown table: a row per figure, a column per peer."""
    peers = list(found)
    lines = [_row("", *peers), _row("---", *("---:" for _ in peers))]
    names = [name for name in LABELS if any(name in figures for figures in found.values())]
    for name in names:
        cells = (_number(found[peer].get(name)) for peer in peers)
        lines.append(_row(LABELS[name], *cells))
    return "\n".join(lines)


def target_table(results: Iterable[Verdict]) -> str:
    lines = [_row("Target", "Wanted", "Measured", "Reached"), _row("---", "---:", "---:", "---")]
    for each in results:
        reached = "yes" if each.reached else "**no**"
        lines.append(_row(each.target, each.wanted, f"{each.measured:.3g}", reached))
    return "\n".join(lines)


def comparison(values: dict[str, dict[str, list[float]]], before: str, after: str) -> str:
    """A Markdown table: medians with the least and the most of the rounds, and their ratio.

    A ratio within the spread of either column is noise.
    """
    lines = [_row("", before, after, "ratio"), _row("---", "---:", "---:", "---:")]
    for name, new in values[after].items():
        if old := values[before].get(name):
            ratio = statistics.median(new) / statistics.median(old)
            lines.append(_row(name, _spread(old), _spread(new), f"{ratio:.2f}"))
    return "\n".join(lines)


def write_json(path: Path, values: dict[str, dict[str, list[float]]], *, rounds: int) -> None:
    found = medians(values)
    document: dict[str, Any] = {
        "machine": {"cpus": cpu_count(), "python": platform.python_version(), **_versions()},
        "rounds": rounds,
        "medians": found,
        "values": values,
        "targets": [asdict(verdict) for verdict in verdicts(found)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1))


def write_plot(path: Path, found: Medians) -> bool:
    """Draws the main figures; False where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    shown = ("send_c16_per_s", "stream_2000_per_s", "stream_2000_cpu_us", "first_delta_ms")
    figure, axes = pyplot.subplots(1, len(shown), figsize=(4 * len(shown), 4))
    for axis, name in zip(axes, shown, strict=True):
        bars = {peer: figures[name] for peer, figures in found.items() if name in figures}
        axis.bar(list(bars), list(bars.values()))
        axis.set_title(name)
        axis.tick_params(axis="x", rotation=45)
    figure.tight_layout()
    figure.savefig(path)
    return True


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _spread(values: list[float]) -> str:
    least, most = _number(min(values)), _number(max(values))
    return f"{_number(statistics.median(values))} ({least} … {most})"


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
