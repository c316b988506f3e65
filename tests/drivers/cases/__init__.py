from tests.drivers.cases.adapters import AdapterCase
from tests.drivers.cases.callables import CallableCase
from tests.drivers.cases.graphs import LangGraphCase, RememberingLangGraphCase

CASES = [CallableCase(), AdapterCase(), LangGraphCase(), RememberingLangGraphCase()]
