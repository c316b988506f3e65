"""Finds agents where adk's commands find them."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.cli.utils.agent_loader import AgentLoader
from google.adk.runners import Runner
from google.adk.workflow import BaseNode

from aion_adk.card import Servable
from aion_adk.drivers.registry import load_agent, resolve
from aion_adk.errors import LoadError
from aion_adk.options import ServerOptions
from aion_adk.settings import SUFFIXES, read_settings


@dataclass(frozen=True)
class Found:
    """The agents of a target by name; `several` if it is a folder of agents.

    `options` has those that the module of an agent brings, as its `a2a_options`.
    """

    agents: dict[str, Servable]
    several: bool
    options: dict[str, ServerOptions] = field(default_factory=dict[str, ServerOptions])


def find_agents(target: str) -> Found:
    """Loads an agent folder, a folder of agents, a python or a configuration file, or
    `module:attribute`.

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
        return _found(folder, [name], several=False)
    if path.suffix in SUFFIXES and path.is_file():
        return _configured(path)
    if ":" in target:
        agent = _attribute(target)
        name = _name_of(agent)
        return Found({name: agent}, several=False, options=_own_options(name, target))
    raise LoadError(
        f"{target} is no folder, no python or configuration file and no module:attribute"
    )


def _configured(path: Path) -> Found:
    """The agent that a file describes; its references are found beside the file."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    settings = read_settings(path)
    try:
        agent = load_agent(settings.agent)
    except LoadError as error:
        raise LoadError(f"{path}: {error}") from error
    return Found({agent.name: agent}, several=False)


def _in_folder(path: Path) -> Found:
    path = path.resolve()
    loader = AgentLoader(str(path))
    if loader.is_single_agent or (path / "__init__.py").is_file():
        return _found(path.parent, [path.name], several=False)
    names = loader.list_agents()
    if not names:
        raise LoadError(f"no agent in {path}: expected a folder with an agent.py in it")
    return _found(path, names, several=True)


def _found(folder: Path, names: Iterable[str], *, several: bool) -> Found:
    agents: dict[str, Servable] = {}
    options: dict[str, ServerOptions] = {}
    for name in names:
        agents[name] = _load(folder, name)
        options |= _own_options(name, name, f"{name}.agent")
    return Found(agents, several=several, options=options)


def _own_options(name: str, *targets: str) -> dict[str, ServerOptions]:
    """What the first of the loaded modules that has `a2a_options` says."""
    for target in targets:
        module = sys.modules.get(target.partition(":")[0])
        options: object = getattr(module, "a2a_options", None)
        if isinstance(options, ServerOptions):
            return {name: options}
        if options is not None:
            kind = type(options).__name__
            raise LoadError(f"a2a_options of {name} must be ServerOptions, got {kind}")
    return {}


def _load(folder: Path, name: str) -> Servable:
    try:
        return AgentLoader(str(folder.resolve())).load_agent(name)
    except Exception as error:
        raise LoadError(f"cannot load {name} from {folder}") from error


def _attribute(target: str) -> Servable:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: object = resolve(target)
    except Exception as error:
        raise LoadError(f"cannot load {target}") from error
    if not isinstance(found, (BaseAgent, BaseNode, App, Runner)):
        raise LoadError(
            f"{target} must be an agent, a workflow, an App or a Runner, got {type(found).__name__}"
        )
    return found


def _name_of(agent: Servable) -> str:
    return agent.app_name if isinstance(agent, Runner) else agent.name
