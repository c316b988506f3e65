import json
import subprocess
import sys
from typing import Any

import pytest

from aion_adk import build_agent_card
from aion_adk.drivers import CallableAgent, load_agent, register_driver
from aion_adk.drivers.registry import MissingExtra, driver_class
from aion_adk.errors import LoadError


def shout(text: str) -> str:
    return text.upper()


def test_a_driver_is_loaded_by_name_with_its_options() -> None:
    agent = load_agent(
        {"driver": "callable", "name": "shout", "func": f"{__name__}:shout", "timeout": 5}
    )
    assert isinstance(agent, CallableAgent)
    assert (agent.name, agent.func, agent.timeout) == ("shout", shout, 5)


def test_the_key_adapter_names_a_driver_too() -> None:
    assert isinstance(
        load_agent({"adapter": "callable", "name": "shout", "func": shout}), CallableAgent
    )


def test_a_registered_name_wins_over_a_built_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aion_adk.drivers.registry._registered", {})

    @register_driver("callable")
    class Mine(CallableAgent):
        pass

    assert type(load_agent({"driver": "callable", "name": "a", "func": shout})) is Mine


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, "driver: expected the name of a driver"),
        ({"driver": "langraph"}, "unknown driver 'langraph'; known drivers: adapter, callable,"),
        ({"driver": "callable"}, "driver callable: missing func, name"),
        (
            {"driver": "callable", "name": "a", "func": shout, "tiemout": 1},
            "did you mean 'timeout'",
        ),
        ({"driver": "callable", "name": "a", "func": "nowhere"}, "func: expected 'package.module"),
        ({"driver": "callable", "name": "a", "func": "json:nothing"}, "func: cannot load"),
        ({"driver": "callable", "name": "a", "func": shout, "timeout": -1}, "timeout: "),
        ({"driver": "callable", "name": "not a name", "func": shout}, "name"),
        ({"driver": "callable", "name": "a", "func": shout, "skills": [{"di": 1}]}, "skills.0: "),
        ({"driver": "adapter", "name": "a", "adapter": 1}, "expected an object with invoke()"),
    ],
)
def test_a_wrong_configuration_is_an_error_that_names_the_field(
    config: dict[str, Any], problem: str
) -> None:
    with pytest.raises(LoadError) as caught:
        load_agent(config)
    assert problem in str(caught.value)


def test_a_missing_framework_is_an_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "aion_adk.drivers.langchain", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    for name in [name for name in sys.modules if name.startswith("langchain_core.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'aion-adk\[langchain\]'"):
        driver_class("langchain")


def test_importing_the_package_imports_no_framework() -> None:
    code = (
        "import sys, json, aion_adk, aion_adk.drivers;"
        "print(json.dumps([n for n in ('langgraph', 'langchain_core', 'crewai')"
        " if n in sys.modules]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_importing_the_package_needs_no_framework() -> None:
    code = (
        "import sys\n"
        "for name in ('langgraph', 'langchain_core', 'langchain', 'crewai'):\n"
        "    sys.modules[name] = None\n"
        "import aion_adk, aion_adk.drivers\n"
        "aion_adk.drivers.CallableAgent('a', str.upper)\n"
        "aion_adk.drivers.N8nAgent, aion_adk.drivers.OpenClawAgent\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_metadata_of_a_driver_is_on_its_card() -> None:
    agent = load_agent(
        {
            "driver": "callable",
            "name": "shout",
            "func": shout,
            "display_name": "The Shouter",
            "description": "Says it louder.",
            "version": "1.2.3",
            "skills": [{"id": "shout", "name": "Shout", "description": "d", "tags": ["fun"]}],
            "input_modes": ["text/plain"],
            "output_modes": ["text/plain"],
            "provider": {"organization": "Acme", "url": "https://acme.test"},
            "documentation_url": "https://acme.test/docs",
            "icon_url": "https://acme.test/icon.png",
        }
    )
    card = build_agent_card(agent, url="http://127.0.0.1:1")
    assert (card.name, card.description, card.version) == (
        "The Shouter",
        "Says it louder.",
        "1.2.3",
    )
    assert [skill.id for skill in card.skills] == ["shout"]
    assert list(card.default_input_modes) == list(card.default_output_modes) == ["text/plain"]
    assert card.provider.url == "https://acme.test"
    assert (card.documentation_url, card.icon_url) == (
        "https://acme.test/docs",
        "https://acme.test/icon.png",
    )
