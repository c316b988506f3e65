from tests.drivers.cases.adapters import AdapterCase
from tests.drivers.cases.callables import CallableCase
from tests.drivers.cases.graphs import LangGraphCase, RememberingLangGraphCase
from tests.drivers.cases.openclaws import OpenClawCase
from tests.drivers.cases.runnables import ChainCase, ChatModelCase
from tests.drivers.cases.workflows import N8nCase

CASES = [
    CallableCase(),
    AdapterCase(),
    LangGraphCase(),
    RememberingLangGraphCase(),
    ChatModelCase(),
    ChainCase(),
    N8nCase(),
    OpenClawCase(),
]
