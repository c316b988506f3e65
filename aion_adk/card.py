"""An agent card from an agent."""

import functools
import inspect
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentProvider, AgentSkill
from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.runners import Runner
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.workflow import BaseNode, JoinNode
from pydantic import BaseModel, ConfigDict

from aion_adk.protocol.structs import ProtoJson

Servable = BaseAgent | BaseNode | App | Runner
"""What can be served: an agent, a workflow, an app, or a runner with services of its own."""

_TEXT_MODES = ("text/plain", "application/json")


class CardFields(BaseModel):
    """What an agent's card can show beside ADK's name; an empty field gets the card's default."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    display_name: str = ""
    description: str = ""
    version: str = ""
    skills: tuple[Annotated[AgentSkill, ProtoJson()], ...] = ()
    input_modes: tuple[str, ...] = ()
    output_modes: tuple[str, ...] = ()
    provider: Annotated[AgentProvider, ProtoJson()] | None = None
    documentation_url: str = ""
    icon_url: str = ""


def root_of(agent: Servable) -> BaseNode:
    match agent:
        case App():
            if agent.root_agent is None:
                raise ValueError("the App has no root_agent")
            return agent.root_agent
        case Runner():
            return agent.agent
        case _:
            return agent


def build_agent_card(
    agent: Servable,
    *,
    url: str,
    version: str | None = None,
    name: str | None = None,
    description: str | None = None,
    skills: Sequence[AgentSkill] | None = None,
    interfaces: Sequence[AgentInterface] | None = None,
    capabilities: AgentCapabilities | None = None,
    input_modes: Sequence[str] | None = None,
    output_modes: Sequence[str] | None = None,
    provider: AgentProvider | None = None,
    documentation_url: str = "",
    icon_url: str = "",
) -> AgentCard:
    """A card with skills from tools and sub-agents; instructions and prompts stay private.

    What is not given comes from the agent, if it has `CardFields`. Toolsets do not list
    their tools here: that may need a network, and a card must not.
    """
    root = root_of(agent)
    own = root if isinstance(root, CardFields) else CardFields()
    text = description if description is not None else root.description
    return AgentCard(
        name=name or own.display_name or root.name,
        description=text or f"The {root.name} agent.",
        version=version or own.version or "0.1.0",
        supported_interfaces=interfaces or [jsonrpc_interface(url)],
        capabilities=capabilities or AgentCapabilities(streaming=True),
        default_input_modes=input_modes or own.input_modes or (*_TEXT_MODES, "*/*"),
        default_output_modes=output_modes or own.output_modes or _TEXT_MODES,
        skills=skills if skills is not None else own.skills or skills_of(root),
        provider=provider or own.provider,
        documentation_url=documentation_url or own.documentation_url or None,
        icon_url=icon_url or own.icon_url or None,
    )


def jsonrpc_interface(url: str) -> AgentInterface:
    return AgentInterface(
        url=f"{url.rstrip('/')}/", protocol_binding="JSONRPC", protocol_version="1.0"
    )


def rest_interface(url: str) -> AgentInterface:
    return AgentInterface(url=url.rstrip("/"), protocol_binding="HTTP+JSON", protocol_version="1.0")


def skills_of(root: BaseNode) -> list[AgentSkill]:
    """The agent itself, its tools, and the same for everything below it."""
    skills: dict[str, AgentSkill] = {}
    for node, path in nodes_of(root):
        described = [(path, node.description, "agent")]
        for tool in _tools_of(node):
            if not isinstance(tool, BaseToolset):
                name, description = _name_and_description(tool)
                described.append(((*path, name), description, "tool"))
        for names, description, kind in described:
            # The first paragraph: what follows is often meant only for a model.
            paragraph, _, _ = inspect.cleandoc(description).partition("\n\n")
            skill = AgentSkill(
                id=".".join(names),
                name=names[-1],
                description=" ".join(paragraph.split()) or f"The {names[-1]} {kind}.",
                tags=[kind],
            )
            skills.setdefault(skill.id, skill)
    return list(skills.values())


def nodes_of(
    node: BaseNode, path: tuple[str, ...] = ()
) -> Iterator[tuple[BaseNode, tuple[str, ...]]]:
    """A node and everything below it, each with the names on the way to it."""
    path = (*path, node.name)
    yield node, path
    for child in _children(node):
        if child.name not in path:
            yield from nodes_of(child, path)


def _children(node: BaseNode) -> list[BaseNode]:
    if isinstance(node, BaseAgent):
        agents = [tool.agent for tool in _tools_of(node) if isinstance(tool, AgentTool)]
        return [*node.sub_agents, *agents]
    graph = getattr(node, "graph", None)
    nodes: list[BaseNode] = list(getattr(graph, "nodes", ()))
    return [node for node in nodes if node.name != "__START__" and not isinstance(node, JoinNode)]


def _tools_of(node: BaseNode) -> list[Any]:
    return getattr(node, "tools", None) or []


def _name_and_description(tool: Any) -> tuple[str, str]:
    if isinstance(tool, BaseTool):
        return tool.name, tool.description
    if isinstance(tool, functools.partial):
        return _name_and_description(tool.func)
    return getattr(tool, "__name__", type(tool).__name__), inspect.getdoc(tool) or ""
