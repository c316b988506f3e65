import inspect
from importlib.metadata import version

import pytest

import aion_adk
from tests.paths import ROOT

PUBLIC = {
    "A2AApp",
    "A2ABridgePlugin",
    "A2AInbox",
    "A2AOutbox",
    "ADKAgentExecutor",
    "BridgeError",
    "DurableTaskStore",
    "MemoryTaskStore",
    "ServerOptions",
    "TaskFailed",
    "TaskRejected",
    "ask_caller",
    "build_agent_card",
    "emit_artifact",
    "emit_data",
    "emit_file",
    "emit_message",
    "emit_task_metadata",
    "inbox_of",
    "reply",
    "reply_stream",
    "serve",
    "to_a2a",
}


def test_the_public_names_are_these_and_no_others() -> None:
    assert set(aion_adk.__all__) == PUBLIC
    assert aion_adk.__all__ == sorted(aion_adk.__all__)


def test_every_public_name_is_there_and_has_a_docstring() -> None:
    undocumented = [name for name in PUBLIC if not inspect.getdoc(getattr(aion_adk, name))]
    assert undocumented == []


def test_the_version_is_that_of_the_installed_package() -> None:
    assert aion_adk.__version__ == version("aion-adk")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'aion_adk' has no attribute 'nothing'"):
        getattr(aion_adk, "nothing")  # noqa: B009


def test_every_option_of_a_public_function_is_keyword_only() -> None:
    for name in ("to_a2a", "serve", "build_agent_card"):
        parameters = list(inspect.signature(getattr(aion_adk, name)).parameters.values())
        keywords = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        assert [p.name for p in parameters if p.kind not in keywords] == ["agent"]


def test_the_reference_page_lists_every_public_name() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    assert {name for name in PUBLIC if f"::: aion_adk.{name}\n" in page} == PUBLIC
