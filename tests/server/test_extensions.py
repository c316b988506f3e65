import pytest
from a2a.types import AgentExtension

from aion_adk.server.middleware import answer_headers

HERE = "https://extensions.example/here/v1"
DECLARED = [AgentExtension(uri=HERE)]


@pytest.mark.parametrize("name", ["a2a-extensions", "x-a2a-extensions"])
def test_extensions_are_answered_under_the_name_they_were_asked_with(name: str) -> None:
    asked = {name: f"https://extensions.example/elsewhere/v1, {HERE}"}
    assert answer_headers(asked, declared=DECLARED) == {name: HERE}


def test_nothing_is_answered_when_nothing_is_active() -> None:
    assert answer_headers({"a2a-extensions": ""}, declared=DECLARED) == {}
    assert answer_headers({"a2a-extensions": HERE}, declared=[]) == {}
