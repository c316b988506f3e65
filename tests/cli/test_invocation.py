from pathlib import Path

import pytest

from aion_adk.cli.invocation import command


def test_a_program_on_the_path_is_called_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "aion-adk"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [str(program)])
    assert command() == "aion-adk"


def test_a_program_off_the_path_is_called_as_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv" / "bin" / "aion-adk")])
    assert command() == ".venv/bin/aion-adk"
