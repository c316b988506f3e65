from collections import Counter
from collections.abc import AsyncIterator

from aion_adk.drivers import AdapterAgent
from tests.drivers.cases.case import SECRET, Case, Probe


class Echo:
    async def invoke(self, user_input: str, context_id: str) -> str:
        return f"{user_input}!"

    async def stream(self, user_input: str, context_id: str) -> AsyncIterator[str]:
        yield user_input
        yield "!"


class Failing(Echo):
    async def stream(self, user_input: str, context_id: str) -> AsyncIterator[str]:
        for chunk in "ABC":
            yield chunk
        raise ValueError(SECRET)


class Hanging:
    def __init__(self, probe: Probe) -> None:
        self.probe = probe

    async def invoke(self, user_input: str, context_id: str) -> None:
        await self.probe.hang()


class Counting:
    def __init__(self) -> None:
        self.turns: Counter[str] = Counter()

    def invoke(self, user_input: str, context_id: str) -> str:
        self.turns[context_id] += 1
        return str(self.turns[context_id])


class AdapterCase(Case):
    driver = "adapter"

    def echo(self, name: str = "echo") -> AdapterAgent:
        return AdapterAgent(name, Echo())

    def failing(self) -> AdapterAgent:
        return AdapterAgent("failing", Failing())

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> AdapterAgent:
        return AdapterAgent("hanging", Hanging(probe), timeout=timeout)

    def counting(self) -> AdapterAgent:
        return AdapterAgent("counting", Counting())
