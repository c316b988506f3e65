"""Loads agents from where adk's commands find them."""

import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from google.adk.cli.utils.agent_loader import AgentLoader

import aion_adk
from aion_adk.card import Servable
from aion_adk.cli.settings import SUFFIXES, read_settings
from aion_adk.drivers.registry import load_agent, resolve
from aion_adk.errors import LoadError
from aion_adk.server.build import app_name_of
from aion_adk.server.options import ServerOptions

# Frames that the author of an agent cannot do anything about.
_OWN_FRAMES = ("importlib", "agent_loader.py", *aion_adk.__path__)


@dataclass(frozen=True)
class FoundAgents:
    """The agents of a target by name; `several` if it is a folder of agents.

    `options` holds the `a2a_options` of the modules that define any.
    """

    agents: dict[str, Servable]
    several: bool
    options: dict[str, ServerOptions] = field(default_factory=dict[str, ServerOptions])


def find_agents(target: str) -> FoundAgents:
    """Loads an agent folder, a folder of agents, a python or a configuration file, or
    `module:attribute`.

    A LoadError names the first agent that cannot be loaded; the reason is its cause.
    """
    path = Path(target)
    if path.is_dir():
        return _in_folder(path)
    if path.suffix == ".py" and path.is_file():
        folder = path.absolute().parent
        if path.stem == "agent":
            return _found(folder.parent, [folder.name], several=False)
        return _found(folder, [path.stem], several=False)
    if path.suffix in SUFFIXES and path.is_file():
        # What the file refers to is found beside it.
        _make_importable(path.resolve().parent)
        _, described = read_settings(path)
        try:
            agent = load_agent(described)
        except LoadError as error:
            raise LoadError(f"{path}: {error}") from error
        return FoundAgents({agent.name: agent}, several=False)
    if ":" in target:
        _make_importable(Path.cwd())
        try:
            agent: object = resolve(target)
        except Exception as error:
            raise LoadError(f"cannot load {target}") from error
        if not isinstance(agent, Servable):
            expected = "an agent, a workflow, an App or a Runner"
            raise LoadError(f"{target} must be {expected}, got {type(agent).__name__}")
        name = app_name_of(agent)
        return FoundAgents({name: agent}, several=False, options=_own_options(name, target))
    raise LoadError(
        f"{target} is not a folder, a python or configuration file, or module:attribute"
    )


def _make_importable(folder: Path) -> None:
    """Lets what a target names be imported from `folder`.

    It stays importable: an agent may import more of its modules when it runs. ADK's loader does
    the same for the folders that it loads from.
    """
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _in_folder(path: Path) -> FoundAgents:
    path = path.resolve()
    loader = AgentLoader(str(path))
    if loader.is_single_agent or (path / "__init__.py").is_file():
        return _found(path.parent, [path.name], several=False)
    names = loader.list_agents()
    if not names:
        raise LoadError(f"no agent in {path}: expected a folder with an agent.py in it")
    return _found(path, names, several=True)


def _found(folder: Path, names: Iterable[str], *, several: bool) -> FoundAgents:
    agents: dict[str, Servable] = {}
    options: dict[str, ServerOptions] = {}
    loader = AgentLoader(str(folder.resolve()))
    for name in names:
        try:
            agents[name] = loader.load_agent(name)
        except Exception as error:
            raise LoadError(f"cannot load {name} from {folder}") from error
        options |= _own_options(name, name, f"{name}.agent")
    return FoundAgents(agents, several=several, options=options)


def _own_options(name: str, *targets: str) -> dict[str, ServerOptions]:
    """The `a2a_options` of the first of the loaded modules that has any."""
    for target in targets:
        module = sys.modules.get(target.partition(":")[0])
        options: object = getattr(module, "a2a_options", None)
        if isinstance(options, ServerOptions):
            return {name: options}
        if options is not None:
            kind = type(options).__name__
            raise LoadError(f"a2a_options of {name} must be ServerOptions, got {kind}")
    return {}


def explanation(error: LoadError) -> str:
    """What could not be loaded, then the agent's traceback from its own first line on."""
    cause = error.__cause__
    if cause is None:
        return str(error)
    caused_by_load_error = isinstance(cause, LoadError)
    while cause.__cause__ is not None:
        cause = cause.__cause__
    exception = traceback.TracebackException.from_exception(cause)
    frames = [
        frame
        for frame in exception.stack
        if not any(part in frame.filename for part in _OWN_FRAMES)
    ]
    if caused_by_load_error and all("site-packages" in frame.filename for frame in frames):
        return str(error)
    stack = traceback.StackSummary.from_list(frames).format()
    lines = [*stack, *exception.format_exception_only()]
    return f"{error}\n\n{''.join(lines).rstrip()}"
