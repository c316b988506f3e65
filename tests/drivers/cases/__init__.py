"""A case for each driver whose framework is installed in this environment."""

import importlib
from importlib.util import find_spec

from tests.drivers.cases.case import Case

_CASES = (
    ("callables", "CallableCase", "aion_adk"),
    ("adapters", "AdapterCase", "aion_adk"),
    ("graphs", "LangGraphCase", "langgraph"),
    ("graphs", "RememberingLangGraphCase", "langgraph"),
    ("runnables", "ChatModelCase", "langchain_core"),
    ("runnables", "ChainCase", "langchain_core"),
    ("workflows", "N8nCase", "aion_adk"),
    ("openclaws", "OpenClawCase", "aion_adk"),
    ("crews", "CrewCase", "crewai"),
)

CASES: list[Case] = [
    getattr(importlib.import_module(f"{__name__}.{module}"), case)()
    for module, case, framework in _CASES
    if find_spec(framework)
]
