import subprocess
import sys

import pytest
from click.testing import CliRunner

from aion_adk.cli import main

COMMANDS = ["serve", "card", "send", "check"]


def test_help_loads_neither_adk_nor_the_a2a_sdk() -> None:
    script = f"""
import sys
from aion_adk.cli import main
for arguments in [["--help"], ["--version"], *([name, "--help"] for name in {COMMANDS})]:
    main(arguments, standalone_mode=False)
heavy = {{"google.adk", "google.genai", "a2a", "starlette", "uvicorn", "httpx", "rich"}}
sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aion_adk", "--help"], capture_output=True, text=True, timeout=30
    )
    assert done.stdout.startswith("Usage: aion-adk ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(command: str) -> None:
    shown = CliRunner().invoke(main, [command, "--help"])
    assert shown.exit_code == 0
    assert shown.output.startswith(f"Usage: main {command} ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://127.0.0.1:1"], "nothing to send"),
        (["127.0.0.1:1", "hi"], "must begin with http"),
        (["http://127.0.0.1:1", "--data", "{"], "not JSON"),
        (["http://127.0.0.1:1", "hi", "--header", "nothing"], "expected NAME:VALUE"),
        (["http://127.0.0.1:1", "hi", "--file", "missing.txt"], "does not exist"),
    ],
)
def test_wrong_usage_of_send_is_reported_before_anything_is_sent(
    arguments: list[str], message: str
) -> None:
    result = CliRunner().invoke(main, ["send", *arguments])
    assert result.exit_code == 2
    assert message in result.output
