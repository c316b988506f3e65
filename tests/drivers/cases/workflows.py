from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aion_adk.drivers import N8nAgent
from tests.drivers.cases.case import Case, Probe
from tests.drivers.n8n_server import N8n


class N8nCase(Case):
    driver = "n8n"

    def __init__(self) -> None:
        self.n8n = N8n()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        self.n8n = N8n()
        async with self.n8n.running():
            yield

    def echo(self, name: str = "echo") -> N8nAgent:
        return N8nAgent(name, f"{self.n8n.url}/echo")

    def failing(self) -> N8nAgent:
        return N8nAgent("failing", f"{self.n8n.url}/failing")

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> N8nAgent:
        self.n8n.probe = probe
        return N8nAgent("hanging", f"{self.n8n.url}/hanging", timeout=timeout)

    def counting(self) -> N8nAgent:
        return N8nAgent("counting", f"{self.n8n.url}/counting")
