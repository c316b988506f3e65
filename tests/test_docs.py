"""The code in the README and in the documentation runs as it is printed."""

import re
from pathlib import Path

import pytest

from tests.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

PUBLIC_PACKAGES = ("aion_adk.drivers", "aion_adk.formats")

# A fence marked `{.python .notest}` needs what a test cannot have: a key, a paid service.
_FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page: Path) -> list[tuple[int, str]]:
    """The python blocks of a page, each with the line it begins on."""
    text = page.read_text()
    return [(text.count("\n", 0, found.start(1)) + 1, found[1]) for found in _FENCE.finditer(text)]


def test_the_pages_have_code_to_run() -> None:
    assert any(blocks_of(page) for page in PAGES)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks_of(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_code_of_a_page_runs_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": f"docs.{page.stem}"}
    for line, block in blocks_of(page):
        # Leading newlines make a traceback point at the page's own lines.
        source = "\n" * (line - 1) + block
        exec(compile(source, str(page), "exec"), namespace)


def test_the_code_of_the_pages_uses_public_names_only() -> None:
    homes = re.compile(r"(?:from|import) (aion_adk\.[\w.]+)")
    used = {home for page in PAGES for _, block in blocks_of(page) for home in homes.findall(block)}
    assert {home for home in used if not home.startswith(PUBLIC_PACKAGES)} == set()


def test_the_contract_has_the_rules_that_tests_name() -> None:
    contract = (ROOT / "docs" / "contract.md").read_text()
    written = re.findall(r"^\*\*([A-G]\d*)\*\*", contract, re.MULTILINE)
    # `"""F1, F2"""`, `"""C3 (2): why"""`
    docstring = re.compile(r'^ +"""((?:[A-G]\d*(?: \(\d\))?(?:, |(?="""|:)))+)', re.MULTILINE)
    modules = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    docstrings = "".join(rules for module in modules for rules in docstring.findall(module))
    assert sorted(written) == sorted(set(re.findall(r"[A-G]\d*", docstrings)))


def test_the_tour_of_the_code_names_what_is_there() -> None:
    tour = (ROOT / "docs" / "architecture.md").read_text()
    package = ROOT / "aion_adk"
    rooms = "|".join(folder.name for folder in package.iterdir() if folder.is_dir())
    named = set(re.findall(rf"(?:`|as )((?:{rooms})(?:/[a-z_]+)*)\b", tour))
    assert len(named) > 40
    gone = [n for n in named if not (package / n).is_dir() and not (package / f"{n}.py").is_file()]
    assert gone == []


def test_the_tour_of_the_code_lists_every_module() -> None:
    tour = (ROOT / "docs" / "architecture.md").read_text()
    tree = tour.split("```text")[1].split("```")[0]
    words = set(re.findall(r"[a-z0-9_]+", tree))
    modules = {path.stem for path in (ROOT / "aion_adk").rglob("[a-z]*.py")}
    assert modules - words == set()
