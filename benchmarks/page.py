"""Writes the figures of a run into the documentation: `python -m benchmarks.page`."""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.report import Verdict, table, target_table

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "results.json"
PAGE = ROOT / "docs" / "performance.md"


def with_figures(page: str, results: dict[str, Any]) -> str:
    """`page` with the figures of `results` between its marks."""
    verdicts = [Verdict(**verdict) for verdict in results["targets"]]
    blocks = {
        "machine": _machine(results),
        "targets": target_table(verdicts),
        "figures": table(results["medians"]),
    }
    for name, block in blocks.items():
        marks = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(
            marks, lambda found, block=block: found[1] + block + found[2], page, flags=re.S
        )
    return page


def _machine(results: dict[str, Any]) -> str:
    machine: dict[str, Any] = dict(results["machine"])
    cpus, python = machine.pop("cpus"), machine.pop("python")
    packages = ", ".join(f"{name} {version}" for name, version in machine.items())
    return f"{results['rounds']} rounds on {cpus} virtual cores. Python {python}, {packages}."


if __name__ == "__main__":
    PAGE.write_text(with_figures(PAGE.read_text(), json.loads(RESULTS.read_text())))
