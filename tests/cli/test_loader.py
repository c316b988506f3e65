import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.adk.agents import BaseAgent
from google.adk.apps import App

from aion_adk.cli.loader import find_agents
from aion_adk.errors import LoadError
from aion_adk.server.options import ServerOptions
from tests.cli.agent_folders import AGENT, APP, write


@pytest.fixture(autouse=True)
def _own_modules() -> Iterator[None]:
    """The folders of a test are importable during it alone."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if not name.startswith(("google", "aion_adk")):
            del sys.modules[name]


def test_an_agent_folder_is_one_agent(tmp_path: Path) -> None:
    found = find_agents(str(write(tmp_path, "loader_one", AGENT)))
    assert (list(found.agents), found.several) == (["loader_one"], False)


def test_the_app_comes_before_the_root_agent(tmp_path: Path) -> None:
    found = find_agents(str(write(tmp_path, "loader_app", AGENT + APP)))
    assert isinstance(found.agents["loader_app"], App)


def test_an_agent_can_be_in_the_package_itself(tmp_path: Path) -> None:
    folder = write(tmp_path, "loader_package", AGENT, file="__init__.py")
    assert isinstance(find_agents(str(folder)).agents["loader_package"], BaseAgent)


def test_a_folder_of_agents_is_each_of_them(tmp_path: Path) -> None:
    for name in ("loader_b", "loader_a"):
        write(tmp_path, name, AGENT)
    (tmp_path / "not_an_agent").mkdir()
    (tmp_path / "shared.py").touch()
    found = find_agents(str(tmp_path))
    assert (list(found.agents), found.several) == (["loader_a", "loader_b"], True)


def test_a_python_file_and_a_module_attribute_are_one_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loader_file.py").write_text(AGENT.format(name="inside"))
    monkeypatch.chdir(tmp_path)
    assert list(find_agents("loader_file.py").agents) == ["loader_file"]
    assert list(find_agents("loader_file:root_agent").agents) == ["inside"]


def test_the_file_of_an_agent_folder_is_found_from_inside_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, "loader_inside", AGENT))
    assert list(find_agents("agent.py").agents) == ["loader_inside"]


def test_a_broken_agent_is_named_with_its_own_error_as_the_cause(tmp_path: Path) -> None:
    write(tmp_path, "loader_good", AGENT)
    write(tmp_path, "loader_broken", "import no_such_module_at_all")
    with pytest.raises(LoadError, match="cannot load loader_broken") as raised:
        find_agents(str(tmp_path))
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("missing", "is not a folder"),
        ("missing_module:agent", "cannot load missing_module:agent"),
        ("json:dumps", "must be an agent, a workflow, an App or a Runner, got function"),
        ("json:nothing", "cannot load json:nothing"),
    ],
)
def test_a_target_that_is_no_agent_is_refused(target: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        find_agents(target)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no agent in"):
        find_agents(str(tmp_path))


OPTIONS = """
from aion_adk import ServerOptions
a2a_options = ServerOptions(list_grpc=True, run_timeout=5)
"""


def test_an_agent_brings_options_of_its_own(tmp_path: Path) -> None:
    found = find_agents(str(write(tmp_path, "loader_options", AGENT + OPTIONS)))
    assert found.options == {"loader_options": ServerOptions(list_grpc=True, run_timeout=5)}


def test_options_of_another_kind_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, "loader_no_options", AGENT + "a2a_options = ['list_grpc']")
    with pytest.raises(LoadError, match="must be ServerOptions, got list"):
        find_agents(str(folder))


def test_given_options_win_over_those_an_agent_brings() -> None:
    brought = ServerOptions(list_grpc=True, run_timeout=5)
    assert ServerOptions(run_timeout=9).overriding(brought) == ServerOptions(
        list_grpc=True, run_timeout=9
    )


def test_a_module_is_found_whatever_its_file_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loader-dashed.py").write_text(AGENT.format(name="dashed"))
    monkeypatch.chdir(tmp_path)
    assert list(find_agents("loader-dashed:root_agent").agents) == ["dashed"]
