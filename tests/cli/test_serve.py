import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aion_adk.cli import main
from aion_adk.cli.serve import announcement
from aion_adk.cli.settings import SETTINGS
from aion_adk.server.directory import directory_of
from aion_adk.server.options import ServerOptions
from tests.agents import Named
from tests.cli.agent_folders import AGENT, write


def test_the_start_prints_where_each_agent_is_and_what_to_try() -> None:
    agents = {name: Named(name=name) for name in ("anna", "bartholomew")}
    text = announcement(directory_of(agents, ServerOptions()), "http://127.0.0.1:8000")
    assert text.splitlines() == [
        "Serving 2 agents at http://127.0.0.1:8000",
        "",
        "  anna         http://127.0.0.1:8000/a2a/anna",
        "  bartholomew  http://127.0.0.1:8000/a2a/bartholomew",
        "",
        'Try:   aion-adk send http://127.0.0.1:8000/a2a/anna "hello"',
        "Stop:  Ctrl+C",
    ]


def test_a_broken_agent_stops_the_start_with_its_error(tmp_path: Path) -> None:
    write(tmp_path, "serve_good", AGENT)
    broken = write(tmp_path, "serve_broken", "\nraise KeyError('DATABASE')")
    done = subprocess.run(
        [sys.executable, "-m", "aion_adk", "serve", str(tmp_path), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=40,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: cannot load serve_broken from {tmp_path}\n")
    assert f'File "{broken / "agent.py"}", line 2' in done.stderr
    assert "DATABASE" in done.stderr.splitlines()[-1]
    assert "agent_loader.py" not in done.stderr


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    folder = write(tmp_path, "serve_port", AGENT)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(main, ["serve", str(folder), "--port", port])
    assert result.exit_code == 1
    assert result.output == f"Error: cannot listen on 127.0.0.1:{port}: Address already in use\n"


@pytest.mark.parametrize(
    "option", [("--port", "99999"), ("--grpc-port", "99999"), ("--run-timeout", "0")]
)
def test_a_number_out_of_range_is_wrong_usage(option: tuple[str, str]) -> None:
    result = CliRunner().invoke(main, ["serve", "anything", *option])
    assert result.exit_code == 2
    assert f"Invalid value for '{option[0]}': {option[1]}" in result.output


def test_every_setting_has_a_flag() -> None:
    shown = CliRunner().invoke(main, ["serve", "--help"]).output
    for name, setting in SETTINGS.items():
        assert f"--{name.replace('_', '-')} " in shown
        assert setting.help.split()[0] in shown


def test_the_flags_of_the_command_line_become_server_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, "serve_flags", AGENT)
    given: dict[str, Any] = {}

    def serve_agents(path: str, **keywords: object) -> None:
        given.update(keywords)

    monkeypatch.setattr("aion_adk.cli.serve.serve_agents", serve_agents)
    arguments = ["--host", "::1", "--agui", "--grpc-port", "0", "--run-timeout", "2.5"]
    assert CliRunner().invoke(main, ["serve", str(folder), *arguments]).exit_code == 0
    expected = ServerOptions(grpc_host="::1", agui=True, grpc_port=0, run_timeout=2.5)
    assert (given["host"], given["port"]) == ("::1", 8000)
    assert ServerOptions(**given["options"]) == expected


@pytest.mark.parametrize("command", ["serve", "card"])
def test_a_public_url_that_no_client_could_use_stops_the_start(
    tmp_path: Path, command: str
) -> None:
    folder = write(tmp_path, f"serve_url_{command}", AGENT)
    result = CliRunner().invoke(main, [command, str(folder), "--public-url", "http://0.0.0.0:1"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: public_url must be an address that clients can use")


def test_ctrl_c_ends_the_server_without_a_complaint(tmp_path: Path) -> None:
    folder = write(tmp_path, "serve_stopped", AGENT)
    with subprocess.Popen(
        [sys.executable, "-m", "aion_adk", "serve", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as server:
        assert server.stdout is not None
        while not server.stdout.readline().startswith("Stop:"):
            assert server.poll() is None
        server.send_signal(signal.SIGINT)
        _, complaint = server.communicate(timeout=40)
    assert (server.returncode, complaint) == (0, "")
