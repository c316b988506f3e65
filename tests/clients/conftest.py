"""One server for the clients of a module: every binding, 1.0 and 0.3."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest_asyncio
from a2a.types import AgentCard

from tests.clients.storyteller import Storyteller
from tests.serving import free_port, serving


@dataclass(frozen=True)
class Story:
    url: str


def extended(card: AgentCard, _: object) -> AgentCard:
    copy = AgentCard()
    copy.CopyFrom(card)
    copy.description = "What only some callers may know."
    return copy


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def story() -> AsyncGenerator[Story, None]:
    async with serving(
        Storyteller(name="storyteller"),
        grpc_port=free_port(),
        list_grpc=True,
        list_v0_3=True,
        push_private_urls=True,
        extended_card=extended,
    ) as url:
        yield Story(url)
