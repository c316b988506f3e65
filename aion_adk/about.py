"""What an agent says about itself beyond ADK's name and description, for its card."""

from typing import Annotated

from a2a.types import AgentProvider, AgentSkill
from pydantic import BaseModel, ConfigDict

from aion_adk.values import ProtoJson

Skill = Annotated[AgentSkill, ProtoJson()]
Provider = Annotated[AgentProvider, ProtoJson()]


class About(BaseModel):
    """Fields of an agent card; what is empty is left to the card's defaults."""

    model_config = ConfigDict(frozen=True)

    display_name: str = ""
    description: str = ""
    version: str = ""
    skills: tuple[Skill, ...] = ()
    input_modes: tuple[str, ...] = ()
    output_modes: tuple[str, ...] = ()
    provider: Provider | None = None
    documentation_url: str = ""
    icon_url: str = ""
