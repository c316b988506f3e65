import asyncio
from collections.abc import AsyncIterator, Iterator

from google.adk.agents.invocation_context import InvocationContext

from aion_adk.drivers import CallableAgent
from tests.drivers.cases.case import SECRET, Case, Probe


class CallableCase(Case):
    driver = "callable"

    def echo(self, name: str = "echo") -> CallableAgent:
        async def echo(text: str) -> AsyncIterator[str]:
            yield text
            await asyncio.sleep(0)
            yield "!"

        return CallableAgent(name, echo)

    def failing(self) -> CallableAgent:
        def fail(text: str) -> Iterator[str]:
            yield from "ABC"
            raise ValueError(SECRET)

        return CallableAgent("failing", fail)

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> CallableAgent:
        async def hang(text: str) -> None:
            await probe.hang()

        return CallableAgent("hanging", hang, timeout=timeout)

    def counting(self) -> CallableAgent:
        def count(text: str, ctx: InvocationContext) -> str:
            return str(sum(event.author == "user" for event in ctx.session.events))

        return CallableAgent("counting", count)
