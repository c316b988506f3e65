import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from benchmarks import report, walk
from benchmarks.__main__ import package_of, run
from benchmarks.client import Answer
from benchmarks.page import with_figures
from benchmarks.process import Server
from benchmarks.scenarios import full

# Stands for the package as another checkout has it.
OTHER_PACKAGE = """
from pathlib import Path
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

def to_a2a(agent, **options):
    Path(__file__).resolve().parents[1].joinpath("served").write_text(agent.name)
    path = "/.well-known/agent-card.json"
    return Starlette(routes=[Route(path, lambda _: PlainTextResponse("card"))])
"""


@pytest.mark.timeout(180)
async def test_a_tiny_run_measures_this_server_and_writes_every_kind_of_figure(
    tmp_path: Path,
) -> None:
    await run("tiny", rounds=1, peers=["aion-adk"], results=tmp_path)
    document = json.loads((tmp_path / "results.json").read_text())
    figures = document["medians"]["aion-adk"]
    assert set(figures) == {
        "startup_s",
        "startup_mb",
        "send_c1_per_s",
        "send_c1_p50_ms",
        "send_c1_p99_ms",
        "send_c1_cpu_ms",
        "first_delta_ms",
        "stream_20_per_s",
        "stream_20_cpu_us",
        "stream_20_frames",
        "paced_5_cpu_us",
        "paced_5_frames",
        "inside_20_ms",
        "front_a2a_cpu_us",
        "front_agui_cpu_us",
        "front_chat_cpu_us",
        "front_responses_cpu_us",
        "graph_alone_cpu_us",
        "graph_native_cpu_us",
        "graph_driver_cpu_us",
        "turn_1_ms",
        "turn_10_ms",
        "task_kb",
        "open_stream_kb",
        "stalled_reader_mb",
    }
    assert document["rounds"] == 1
    assert {verdict["target"] for verdict in document["targets"]} == {
        "CPU per chunk of agui, against plain A2A",
        "CPU per chunk of chat, against plain A2A",
        "CPU per chunk of responses, against plain A2A",
        "CPU per chunk of a LangGraph graph, against graph and native agent",
        "memory per finished task",
        "memory per open stream",
        "memory for a stopped reader",
    }
    assert "SendMessage, 1 at a time: requests/s" in report.table(document["medians"])


class Instant:
    """A target that gives every answer at once."""

    folder: Path | None = None

    async def send(self, text: str, *, context_id: str = "") -> Answer:
        return Answer(sent=0, first_delta=1, end=2, body=b"data: {}")

    async def stream(self, text: str, *, chunks: int) -> Answer:
        return await self.send(text)

    async def stream_to(self, front: str, text: str, *, chunks: int) -> Answer:
        return await self.send(text)

    async def hold(self, text: str) -> None: ...

    async def stall(self, text: str, *, context_id: str) -> Callable[[], Awaitable[Answer]]:
        return lambda: self.send(text)

    def cpu_seconds(self) -> float:
        return 0

    def resident_bytes(self) -> int:
        return 0


async def test_every_figure_of_a_full_run_is_shown_under_a_label() -> None:
    figures = {"startup_s", "startup_mb"}
    for scenario in full():
        if scenario.name.endswith("of a graph"):  # it takes a process of its own
            figures |= {f"graph_{kind}_cpu_us" for kind in ("alone", "native", "driver")}
        else:
            figures |= set(await scenario.measure(Instant()))
    assert set(report.LABELS) == figures


def test_targets_are_judged_by_ratios_within_the_run() -> None:
    found = {
        "aion-adk": {"send_c16_per_s": 900.0, "send_c16_p99_ms": 30.0},
        "adk": {"send_c16_per_s": 300.0, "send_c16_p99_ms": 100.0},
    }
    judged = {each.target: (each.measured, each.reached) for each in report.verdicts(found)}
    assert judged == {
        "SendMessage/s at 16, against ADK": (3.0, True),
        "p99 at 16, against ADK": (0.3, False),
    }


def test_a_page_shows_the_figures_of_a_run_between_its_marks() -> None:
    verdict = {"target": "turn 300", "wanted": "at most 5 ms", "measured": 4.0, "reached": True}
    results = {
        "machine": {"cpus": 2, "python": "3.11", "a2a-sdk": "1.3"},
        "rounds": 3,
        "medians": {"adk": {"turn_300_ms": 4.0}},
        "targets": [verdict],
    }
    marks = "".join(f"<!-- {name} -->\nold\n<!-- end -->\n" for name in ("machine", "figures"))
    assert with_figures(f"# Title\n{marks}", results) == (
        "# Title\n"
        "<!-- machine -->\n3 rounds on 2 virtual cores. Python 3.11, a2a-sdk 1.3.\n<!-- end -->\n"
        "<!-- figures -->\n|  | adk |\n| --- | ---: |\n| Turn 300: CPU, ms | 4 |\n<!-- end -->\n"
    )


async def test_another_checkout_is_served_by_this_benchmark(tmp_path: Path) -> None:
    (tmp_path / "aion_adk").mkdir()
    (tmp_path / "aion_adk" / "__init__.py").write_text(OTHER_PACKAGE)
    with package_of(tmp_path) as folder:
        server = Server("aion-adk", name="before", folder=folder)
        try:
            assert set(await server.start()) == {"startup_s", "startup_mb"}
        finally:
            await server.stop()
    assert (tmp_path / "served").read_text() == "trivial"


def test_a_folder_without_the_package_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="expects a checkout"), package_of(tmp_path):
        pass


def test_two_checkouts_are_compared_by_medians_with_what_the_rounds_spread() -> None:
    values = {
        "before": {"send_c1_per_s": [100.0, 300.0, 200.0], "gone": [1.0]},
        "aion-adk": {"send_c1_per_s": [210.0, 200.0, 400.0], "new": [1.0]},
    }
    assert report.comparison(values, "before", "aion-adk").splitlines()[2:] == [
        "| send_c1_per_s | 200 (100 … 300) | 210 (200 … 400) | 1.05 |"
    ]


def test_the_walk_of_a_message_and_the_rooms_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["walk", "--modules"])
    walk.main()
    printed = capsys.readouterr().out
    names = re.findall(r"^(\w[\w ]*?) {2,}", printed, re.MULTILINE)
    assert names[:3] == ["streamed", "blocking", "each further chunk"]
    assert {"room", "cli", "drivers", "formats", "total"} <= set(names)
    figures = re.findall(r"^streamed +(\d+) +(\d+) +(\d+)$", printed, re.MULTILINE)[0]
    modules, switches, steps = map(int, figures)
    assert 0 < modules < switches < steps
    assert len(re.findall(r"^[\w/]+\.py$", printed, re.MULTILINE)) == modules


def test_a_room_is_a_folder_with_all_below_it(tmp_path: Path) -> None:
    inner = tmp_path / "pack" / "room" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "pack" / "flat.py").write_text("x = 1\n\ny = 2\n")
    (inner / "deep.py").write_text("async def f():\n    def g(): ...\n")
    (inner.parent / "near.py").write_text("def h(): ...\n")
    assert walk.rooms(tmp_path / "pack") == {
        "pack": walk.Room(lines=3, filled=2, files=1, functions=0),
        "room": walk.Room(lines=3, filled=3, files=2, functions=3),
    }
