"""Finds agents where adk's commands find them."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.cli.utils.agent_loader import AgentLoader
from google.adk.runners import Runner
from google.adk.workflow import BaseNode

from aion_adk.card import Servable
from aion_adk.errors import LoadError


@dataclass(frozen=True)
class Found:
    """The agents of a target by name; `several` if it is a folder of agents."""

    agents: dict[str, Servable]
    several: bool


def find_agents(target: str) -> Found:
    """Loads an agent folder, a folder of agents, a python file or `module:attribute`.

    A LoadError names the first agent that cannot be loaded; its cause is what went wrong.
    """
    path = Path(target)
    if path.is_dir():
        return _in_folder(path)
    if path.suffix == ".py" and path.is_file():
        folder, name = (
            (path.parent.parent, path.parent.name)
            if path.stem == "agent"
            else (
                path.parent,
                path.stem,
            )
        )
        return Found({name: _load(folder, name)}, several=False)
    if ":" in target:
        agent = _attribute(target)
        return Found({_name_of(agent): agent}, several=False)
    raise LoadError(f"{target} is no folder, no python file and no module:attribute")


def _in_folder(path: Path) -> Found:
    path = path.resolve()
    loader = AgentLoader(str(path))
    if loader.is_single_agent or (path / "__init__.py").is_file():
        return Found({path.name: _load(path.parent, path.name)}, several=False)
    names = loader.list_agents()
    if not names:
        raise LoadError(f"no agent in {path}: expected a folder with an agent.py in it")
    return Found({name: _load(path, name) for name in names}, several=True)


def _load(folder: Path, name: str) -> Servable:
    try:
        return AgentLoader(str(folder.resolve())).load_agent(name)
    except Exception as error:
        raise LoadError(f"cannot load {name} from {folder}") from error


def _attribute(target: str) -> Servable:
    module_name, _, attribute = target.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: object = importlib.import_module(module_name)
        for name in attribute.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise LoadError(f"cannot load {target}") from error
    if not isinstance(found, (BaseAgent, BaseNode, App, Runner)):
        raise LoadError(
            f"{target} must be an agent, a workflow, an App or a Runner, got {type(found).__name__}"
        )
    return found


def _name_of(agent: Servable) -> str:
    return agent.app_name if isinstance(agent, Runner) else agent.name
