"""`aion-adk serve --config agent.yaml`"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from aion_adk.cli import main
from aion_adk.cli.loader import find_agents
from aion_adk.drivers import CallableAgent
from aion_adk.errors import LoadError
from tests.serving import reply_of, send

AGENT = """\
driver: callable
name: shout
func: shouting_for_config:shout
display_name: The Shouter
server:
  port: 0
  run_timeout: 5
"""


def written(folder: Path, text: str = AGENT) -> Path:
    (folder / "shouting_for_config.py").write_text("def shout(text):\n    return text.upper()\n")
    path = folder / "agent.yaml"
    path.write_text(text)
    return path


def test_a_file_describes_an_agent(tmp_path: Path) -> None:
    agent = find_agents(str(written(tmp_path))).agents["shout"]
    assert isinstance(agent, CallableAgent)
    assert agent.display_name == "The Shouter"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "aion_adk", "serve", "--config", str(written(tmp_path))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait(20)


async def test_an_agent_is_served_from_a_file(url: str) -> None:
    assert not url.endswith(":8000")
    assert reply_of(await send(url, "hi")) == "HI"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (AGENT.replace("port: 0", "port: eighty"), "server.port: "),
        (AGENT.replace("port:", "prot:"), "server.prot: unknown option"),
        (AGENT.replace("port: 0", "grpc_port: 70000"), "server.grpc_port: Input should be less"),
        ("driver: callable\nserver: 8000\n", "server: Input should be"),
        (AGENT.replace("display_name", "displayname"), "unknown option 'displayname'; did you"),
        (AGENT.replace("driver: callable", "driver: calable"), "unknown driver 'calable'"),
        (AGENT.replace("name: shout", "name: a b", 1), "valid Python identifier"),
        ("- a\n- b\n", "expected fields"),
        (AGENT + "1: x\n", "names of fields must be strings, got 1"),
        ("a: [", "while parsing"),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_field(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(LoadError) as caught:
        find_agents(str(path))
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
    result = CliRunner().invoke(main, ["serve", "--config", str(path)])
    assert (result.exit_code, result.output) == (1, f"Error: {caught.value}\n")


@pytest.mark.parametrize(
    ("module", "line"),
    [("config_imports", "import no_such_package"), ("config_raises", "raise KeyError('TOKEN')")],
)
def test_a_module_that_raises_is_reported_with_its_line(
    tmp_path: Path, module: str, line: str
) -> None:
    (tmp_path / f"{module}.py").write_text(f"\n{line}\n")
    path = written(tmp_path, f"driver: callable\nname: a\nfunc: {module}:a\n")
    result = CliRunner().invoke(main, ["serve", "--config", str(path)])
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {path}: func: cannot load '{module}:a'")
    assert f'File "{tmp_path / module}.py", line 2' in result.output


def test_serve_takes_a_path_or_a_file(tmp_path: Path) -> None:
    path = str(written(tmp_path))
    for arguments in ([], [path, "--config", path]):
        result = CliRunner().invoke(main, ["serve", *arguments])
        assert result.exit_code == 2
        assert "either PATH or --config" in result.output
