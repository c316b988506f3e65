import sys

import pytest

from aion_adk import to_a2a
from aion_adk.errors import LoadError
from tests.front_ends.conversations import Hello


def test_agui_without_its_package_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in sys.modules if name.startswith("aion_adk.front_ends.agui.endpoint")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "aion_adk.front_ends.agui.request", raising=False)
    monkeypatch.setitem(sys.modules, "ag_ui.core", None)
    with pytest.raises(LoadError, match=r"aion-adk\[agui\]"):
        to_a2a(Hello(name="hello"), agui=True)
