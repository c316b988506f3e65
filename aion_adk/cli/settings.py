"""The server options that the command line and a configuration file can set.

Cheap to import: `aion-adk --help` reads it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from aion_adk.errors import LoadError
from aion_adk.option_values import Port, PositiveSeconds

SUFFIXES = frozenset({".yaml", ".yml", ".json"})


@dataclass(frozen=True, slots=True)
class Setting:
    """The flag of a server option: its type, its help, and a default if the command has one."""

    type: Any
    help: str
    metavar: str | None = None
    default: str | int | None = None


SETTINGS = {
    "host": Setting(str, "Address to listen on.", default="127.0.0.1"),
    "port": Setting(Port, "Port to listen on; 0 takes any.", default=8000),
    "public_url": Setting(str, "Address that clients use, for the card.", "URL"),
    "trust_proxy_headers": Setting(bool, "Read that address from X-Forwarded-* headers."),
    "database_url": Setting(str, "Keep tasks and sessions in SQLite or PostgreSQL.", "URL"),
    "grpc_port": Setting(Port, "Serve gRPC too, on this port; one agent only."),
    "list_grpc": Setting(bool, "Name the gRPC address on the card."),
    "list_v0_3": Setting(bool, "Name interfaces for A2A 0.3 clients on the card."),
    "agui": Setting(bool, "Serve AG-UI clients too, at /agui."),
    "openai": Setting(bool, "Serve OpenAI clients too, at /v1."),
    "run_timeout": Setting(PositiveSeconds, "Fail runs that take longer.", "SECONDS"),
}
"""By name. `host` and `port` are `serve`'s own, the others are fields of `ServerOptions`."""


def read_settings(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of the server in a YAML or JSON file, and the rest, which `load_agent` takes.

    A LoadError names the file and the field.
    """
    from pydantic import ConfigDict, ValidationError, create_model

    try:
        import yaml
    except ImportError as error:
        raise LoadError(
            "a configuration file needs PyYAML: pip install 'aion-adk[yaml]'"
        ) from error
    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise LoadError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise LoadError(f"{path}: expected fields, as in `driver: callable`")
    agent = cast(dict[str, Any], content)
    if wrong := [name for name in agent if not isinstance(name, str)]:  # pyright: ignore[reportUnnecessaryIsInstance]  # YAML's keys can be anything
        raise LoadError(f"{path}: names of fields must be strings, got {wrong[0]!r}")
    fields: dict[str, Any] = {name: (item.type | None, None) for name, item in SETTINGS.items()}
    server = create_model("ServerSettings", __config__=ConfigDict(extra="forbid"), **fields)
    try:
        settings = server.model_validate(agent.pop("server", {})).model_dump(exclude_none=True)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(['server', *map(str, item['loc'])])}: "
            f"{'unknown option' if item['type'] == 'extra_forbidden' else item['msg']}"
            for item in error.errors()
        )
        raise LoadError(f"{path}: {problems}") from error
    return settings, agent
