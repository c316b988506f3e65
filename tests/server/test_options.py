"""The options of `to_a2a`, `serve` and `ADKAgentExecutor`."""

from math import inf, nan
from types import MappingProxyType
from typing import Any, get_type_hints

import pytest
from a2a.types import AgentCard
from google.adk.agents import BaseAgent
from google.adk.agents.run_config import RunConfig
from google.adk.runners import InMemoryRunner

from aion_adk import ADKAgentExecutor, MemoryTaskStore, ServerOptions, to_a2a
from aion_adk.cli.settings import SETTINGS
from aion_adk.execution.options import RunKeywords, RunOptions
from aion_adk.server.options import OptionKeywords

AGENT = BaseAgent(name="agent")

WRONG_FOR_A_RUN: list[tuple[str, object, type[Exception], str]] = [
    ("run_timeout", "3", TypeError, "must be a number above 0 or None, got '3'"),
    ("run_timeout", True, TypeError, "must be a number above 0 or None, got True"),
    ("run_timeout", -1, ValueError, "must be a number above 0 or None, got -1"),
    ("run_timeout", 0, ValueError, "must be a number above 0 or None, got 0"),
    ("reply_as", "foo", ValueError, "must be 'message' or 'artifact', got 'foo'"),
    ("native_content", None, ValueError, "must be 'fallback' or 'buffer', got None"),
    ("run_config", {"a": 1}, TypeError, "must be RunConfig or None, got {'a': 1}"),
    ("user_id", "me", TypeError, "must be a function or None, got 'me'"),
    ("server_metadata", 3, TypeError, "must be a mapping or a function or None, got 3"),
    ("thoughts", "yes", TypeError, "must be True or False, got 'yes'"),
]
WRONG: list[tuple[str, object, type[Exception], str]] = [
    *WRONG_FOR_A_RUN,
    ("card", {"name": "x"}, TypeError, "must be AgentCard or None, got {'name': 'x'}"),
    ("task_store", {}, TypeError, "must be TaskStore or VersionedTaskStore or None, got {}"),
    ("cors_origins", "http://a", TypeError, "must be a list of str, got 'http://a'"),
    ("cors_origins", [1], TypeError, "must be a list of str, got [1]"),
    ("extensions", ["x"], TypeError, "must be a list of AgentExtension, got ['x']"),
    ("heartbeat", inf, ValueError, "must be a number of at least 0, got inf"),
    ("heartbeat", -1, ValueError, "must be a number of at least 0, got -1"),
    ("shutdown_grace", None, TypeError, "must be a number of at least 0, got None"),
    ("max_request_bytes", 0, ValueError, "must be an integer above 0, got 0"),
    ("max_request_bytes", 1.5, TypeError, "must be an integer above 0, got 1.5"),
    ("grpc_port", 70000, ValueError, "an integer from 0 to 65535 or None, got 70000"),
    ("public_url", 1, TypeError, "must be a string or None, got 1"),
    (
        "security_schemes",
        {"key": "secret"},
        TypeError,
        "must be a mapping to SecurityScheme or None, got {'key': 'secret'}",
    ),
]


@pytest.mark.parametrize(("name", "value", "kind", "message"), WRONG)
def test_a_wrong_value_is_refused_with_what_was_expected(
    name: str, value: object, kind: type[Exception], message: str
) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(kind) as refused:
        to_a2a(AGENT, **options)
    assert str(refused.value).startswith(f"{name} must be ")
    assert str(refused.value).endswith(message)


@pytest.mark.parametrize(("name", "value", "kind", "message"), WRONG_FOR_A_RUN)
def test_an_executor_refuses_the_same_values(
    name: str, value: object, kind: type[Exception], message: str
) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(kind) as refused:
        ADKAgentExecutor(InMemoryRunner(agent=AGENT), **options)
    assert str(refused.value) == f"{name} {message}"


@pytest.mark.parametrize(
    ("metadata", "kind", "message"),
    [
        (
            {"a": object()},
            TypeError,
            "server_metadata: expected JSON-serialisable data, got object",
        ),
        (
            {"a": [nan]},
            ValueError,
            "server_metadata must be JSON of at most 30 levels without NaN and infinity, got",
        ),
    ],
)
def test_server_metadata_that_is_no_json_is_refused(
    metadata: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        to_a2a(AGENT, server_metadata=metadata)


def test_something_that_is_not_an_agent_is_refused() -> None:
    agent: Any = "x"
    with pytest.raises(TypeError) as refused:
        to_a2a(agent)
    assert str(refused.value) == "expected an agent, a workflow, an App or a Runner, got 'x'"


def user_of(_: object) -> str:
    return "me"


TAKEN: list[dict[str, Any]] = [
    {"run_timeout": 3, "heartbeat": 0, "grpc_port": None},
    {"run_config": RunConfig(), "user_id": user_of},
    {"server_metadata": MappingProxyType({"a": 1}), "card": AgentCard()},
    {"server_metadata": user_of, "task_store": MemoryTaskStore()},
    {"cors_origins": ["*"], "security_schemes": {}, "extended_card": AgentCard()},
    {"cors_origins": ("http://a.example",), "extended_card": user_of},
]


@pytest.mark.parametrize("options", TAKEN)
def test_every_kind_of_value_that_a_type_allows_is_taken(options: dict[str, Any]) -> None:
    given = ServerOptions(**options)
    assert {name: getattr(given, name) for name in options} == options


def test_every_option_can_be_given_as_a_keyword_of_the_same_type() -> None:
    assert get_type_hints(OptionKeywords) == get_type_hints(ServerOptions)
    assert get_type_hints(RunKeywords) == get_type_hints(RunOptions)


def test_every_setting_of_a_file_or_the_command_line_is_a_server_option_of_that_type() -> None:
    hints = get_type_hints(ServerOptions, include_extras=True)
    for name in SETTINGS.keys() - {"host", "port"}:
        assert hints[name] in (SETTINGS[name].type, SETTINGS[name].type | None)


def test_keywords_of_the_executor_replace_the_fields_of_its_options_and_are_checked() -> None:
    with pytest.raises(ValueError, match="run_timeout must be a number above 0 or None, got -1"):
        ADKAgentExecutor(
            runner=InMemoryRunner(agent=AGENT), given=ServerOptions(run_timeout=3), run_timeout=-1
        )
