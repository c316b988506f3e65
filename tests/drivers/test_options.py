"""The keywords that an editor shows are the fields that pydantic checks."""

from typing import Any, get_type_hints

import pytest
from google.adk.agents import BaseAgent

from aion_adk.drivers import AdapterAgent, CallableAgent, Driver, N8nAgent, OpenClawAgent
from aion_adk.drivers.driver import DriverOptions
from aion_adk.drivers.langchain import LangChainAgent, LangChainOptions
from aion_adk.drivers.langgraph.agent import LangGraphAgent, LangGraphOptions
from aion_adk.drivers.n8n import N8nOptions
from aion_adk.drivers.openclaw import OpenClawOptions

FROM_ADK = {"description", "timeout", "before_agent_callback", "after_agent_callback"}


@pytest.mark.parametrize(
    ("driver", "options"),
    [
        (Driver, DriverOptions),
        (AdapterAgent, DriverOptions),
        (CallableAgent, DriverOptions),
        (LangChainAgent, LangChainOptions),
        (LangGraphAgent, LangGraphOptions),
        (N8nAgent, N8nOptions),
        (OpenClawAgent, OpenClawOptions),
    ],
)
def test_the_keywords_of_a_driver_are_its_fields(driver: type[Driver], options: type[Any]) -> None:
    optional = {name for name, field in driver.model_fields.items() if not field.is_required()}
    assert set(get_type_hints(options)) == optional - (set(BaseAgent.model_fields) - FROM_ADK)
