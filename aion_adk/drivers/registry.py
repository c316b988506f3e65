"""Drivers by name, for agents that are described in a file."""

import difflib
import importlib
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

from pydantic import ValidationError

from aion_adk.drivers.driver import Driver
from aion_adk.errors import LoadError

BUILT_IN: Mapping[str, str] = {
    "adapter": "AdapterAgent",
    "callable": "CallableAgent",
    "crewai": "CrewAIAgent",
    "langchain": "LangChainAgent",
    "langgraph": "LangGraphAgent",
    "n8n": "N8nAgent",
    "openclaw": "OpenClawAgent",
}
"""Each driver's module in this package, and its class."""

_NOT_OPTIONS = frozenset({"parent_agent", "sub_agents"})

D = TypeVar("D", bound=type[Driver])

_registered: dict[str, type[Driver]] = {}


class MissingExtra(LoadError, ImportError):
    """A driver's framework is not installed."""


def register_driver(name: str) -> Callable[[D], D]:
    """Registers the decorated driver class under `name`; it wins over a built-in one."""

    def register(driver: D) -> D:
        _registered[name] = driver
        return driver

    return register


def driver_class(name: str) -> type[Driver]:
    if name in _registered:
        return _registered[name]
    if name not in BUILT_IN:
        known = ", ".join(sorted({*BUILT_IN, *_registered}))
        raise LoadError(f"unknown driver {name!r}; known drivers: {known}")
    try:
        return resolve(f"aion_adk.drivers.{name}:{BUILT_IN[name]}")
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("aion_adk"):
            raise
        raise MissingExtra(
            f"the {name} driver needs {error.name}: pip install 'aion-adk[{name}]'"
        ) from error


def load_agent(config: Mapping[str, Any]) -> Driver:
    """The agent that `config` describes: `driver` (or `adapter`) names it, the rest are options."""
    options = dict(config)
    key = "driver" if "driver" in options else "adapter"
    name = options.pop(key, None)
    if not isinstance(name, str):
        raise LoadError("driver: expected the name of a driver")
    driver = driver_class(name)
    known = set(driver.model_fields) - _NOT_OPTIONS
    for option in options:
        if option not in known:
            close = difflib.get_close_matches(option, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise LoadError(f"driver {name}: unknown option {option!r}{hint}")
    required = {field for field, info in driver.model_fields.items() if info.is_required()}
    if missing := sorted(required - set(options)):
        raise LoadError(f"driver {name}: missing {', '.join(missing)}")
    for field in driver.references | {"input_mapper"}:
        reference = options.get(field)
        if not isinstance(reference, str):
            continue
        if not all(reference.partition(":")):
            raise LoadError(f"{field}: expected 'package.module:attribute', got {reference!r}")
        try:
            options[field] = resolve(reference)
        except Exception as error:  # the module is the user's: it may raise anything
            raise LoadError(f"{field}: cannot load {reference!r}: {error}") from error
    try:
        return driver(**options)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise LoadError(f"driver {name}: {problems}") from error
    except (TypeError, ValueError) as error:
        raise LoadError(f"driver {name}: {error}") from error


def resolve(reference: str) -> Any:
    """The object that "package.module:attribute" names; what its module raises is raised."""
    module, _, attribute = reference.partition(":")
    # Not pkgutil.resolve_name: it refuses modules whose file name is no identifier.
    return attrgetter(attribute)(importlib.import_module(module))
