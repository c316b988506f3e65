from tests.drivers.cases.adapters import AdapterCase
from tests.drivers.cases.callables import CallableCase

CASES = [CallableCase(), AdapterCase()]
