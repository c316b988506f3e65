"""What an agent says about itself beyond ADK's name and description, for its card."""

from typing import Annotated, Any

from a2a.types import AgentProvider, AgentSkill
from google.protobuf.json_format import ParseDict, ParseError
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer


def _skill(value: Any) -> Any:
    return _parsed(value, AgentSkill()) if isinstance(value, dict) else value


def _provider(value: Any) -> Any:
    return _parsed(value, AgentProvider()) if isinstance(value, dict) else value


def _parsed(value: Any, target: AgentSkill | AgentProvider) -> AgentSkill | AgentProvider:
    try:
        return ParseDict(value, target)
    except ParseError as error:
        raise ValueError(str(error)) from error


Skill = Annotated[AgentSkill, BeforeValidator(_skill), PlainSerializer(str)]
Provider = Annotated[AgentProvider, BeforeValidator(_provider), PlainSerializer(str)]


class About(BaseModel):
    """Fields of an agent card; what is empty is left to the card's defaults."""

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    display_name: str = ""
    description: str = ""
    version: str = ""
    skills: tuple[Skill, ...] = ()
    input_modes: tuple[str, ...] = ()
    output_modes: tuple[str, ...] = ()
    provider: Provider | None = None
    documentation_url: str = ""
    icon_url: str = ""
