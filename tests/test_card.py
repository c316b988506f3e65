import functools
import inspect

import pytest
from a2a.types import AgentCard, AgentSkill
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.workflow import Workflow
from google.protobuf.json_format import MessageToJson

from aion_adk import build_agent_card, to_a2a
from aion_adk.card import CardFields

URL = "https://agents.example"
SECRET = "s3cr3t-word"


def forecast(city: str, key: str = SECRET) -> str:
    """Says what the weather will be.

    Always answer in the tone of s3cr3t-word.

    Args:
        city: where
        key: s3cr3t-word
    """
    return city


def skills(card: AgentCard) -> dict[str, str]:
    return {skill.id: skill.description for skill in card.skills}


def test_skills_come_from_the_agent_its_tools_and_its_sub_agents() -> None:
    """G"""
    child = LlmAgent(name="child", description="Helps.", tools=[forecast])
    expert = LlmAgent(name="expert", description="Knows.", tools=[forecast])
    root = LlmAgent(
        name="root", description="Leads.", tools=[forecast, AgentTool(expert)], sub_agents=[child]
    )
    assert skills(build_agent_card(root, url=URL)) == {
        "root": "Leads.",
        "root.forecast": "Says what the weather will be.",
        "root.expert": "Knows.",
        "root.child": "Helps.",
        "root.child.forecast": "Says what the weather will be.",
        "root.expert.forecast": "Says what the weather will be.",
    }


def test_the_nodes_of_a_workflow_are_skills() -> None:
    """G"""

    def check(node_input: str) -> str:
        """Checks the order."""
        return node_input

    flow = Workflow(name="flow", edges=[("START", check, LlmAgent(name="writer"))])
    assert skills(build_agent_card(flow, url=URL)) == {
        "flow": "The flow agent.",
        "flow.check": "Checks the order.",
        "flow.writer": "The writer agent.",
    }


def test_a_partial_is_described_by_its_function() -> None:
    tool = functools.partial(forecast, key=SECRET)
    root = LlmAgent(name="root", tools=[tool])
    assert skills(build_agent_card(root, url=URL))["root.forecast"].startswith("Says what")


def test_instructions_prompts_and_tool_defaults_are_in_no_card() -> None:
    """G"""
    child = LlmAgent(name="child", instruction=SECRET, static_instruction=SECRET)
    root = LlmAgent(
        name="root",
        instruction=f"Never say {SECRET}.",
        global_instruction=SECRET,  # pyright: ignore[reportDeprecated]  # still accepted by ADK
        tools=[forecast],
        sub_agents=[child],
    )
    assert SECRET not in MessageToJson(to_a2a(root).card)


class Unreachable(BaseToolset):
    async def get_tools(self, readonly_context: object = None) -> list[BaseTool]:
        raise AssertionError("a card must not need the server behind a toolset")


def test_an_unreachable_toolset_does_not_hold_up_the_start() -> None:
    """G"""
    root = LlmAgent(name="root", tools=[Unreachable(), forecast])
    assert set(skills(to_a2a(root).card)) == {"root", "root.forecast"}


def test_an_app_and_a_runner_are_described_by_their_root_agent() -> None:
    root = LlmAgent(name="root", description="Leads.")
    expected = build_agent_card(root, url=URL)
    assert build_agent_card(App(name="whole", root_agent=root), url=URL) == expected
    assert build_agent_card(InMemoryRunner(agent=root, app_name="whole"), url=URL) == expected


def test_what_is_given_wins_over_what_is_found() -> None:
    skill = AgentSkill(id="one", name="One", description="The only one.", tags=["x"])
    card = build_agent_card(
        LlmAgent(name="root", description="Leads.", tools=[forecast]),
        url=URL,
        name="Root",
        description="Better words.",
        version="2.0",
        skills=[skill],
    )
    assert (card.name, card.description, card.version) == ("Root", "Better words.", "2.0")
    assert list(card.skills) == [skill]


def test_an_app_without_an_agent_is_refused() -> None:
    empty = App.model_construct(name="empty", root_agent=None)
    with pytest.raises(ValueError, match="no root_agent"):
        build_agent_card(empty, url=URL)


def test_every_card_field_of_an_agent_can_be_given_as_a_keyword_too() -> None:
    of_the_server = {"agent", "url", "interfaces", "capabilities"}
    keywords = inspect.signature(build_agent_card).parameters.keys() - of_the_server
    # ADK's `name` is an identifier: the name for readers is a field of its own.
    assert keywords == CardFields.model_fields.keys() - {"display_name"} | {"name"}
