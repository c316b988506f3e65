"""A deployment in one file: which agent, and how it is served."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aion_adk.errors import LoadError

SUFFIXES = frozenset({".yaml", ".yml", ".json"})


class ServerSettings(BaseModel):
    """The options of `aion-adk serve`; what is given on the command line wins."""

    model_config = ConfigDict(extra="forbid")

    host: str | None = None
    port: int | None = Field(default=None, ge=0, le=65535)
    public_url: str | None = None
    trust_proxy_headers: bool | None = None
    database_url: str | None = None
    grpc_port: int | None = Field(default=None, ge=0, le=65535)
    list_grpc: bool | None = None
    list_v0_3: bool | None = None
    agui: bool | None = None
    openai: bool | None = None
    run_timeout: float | None = Field(default=None, gt=0)


class Settings(BaseModel):
    """`server`, and beside it what `load_agent` takes."""

    model_config = ConfigDict(extra="allow")

    server: ServerSettings = ServerSettings()

    @property
    def agent(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


def read_settings(path: Path) -> Settings:
    """The settings in a YAML or JSON file; a LoadError names the file and the field."""
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
    try:
        return Settings.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: "
            f"{'unknown option' if item['type'] == 'extra_forbidden' else item['msg']}"
            for item in error.errors()
        )
        raise LoadError(f"{path}: {problems}") from error
