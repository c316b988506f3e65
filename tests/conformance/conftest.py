"""One server with the conformance agent for a whole module, and the three ways to call it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import grpc.aio
import httpx
import pytest
import pytest_asyncio
from a2a.types import AgentExtension

from aion_adk import A2AApp, ServerOptions
from aion_adk.server.build import app_of
from samples.conformance.agent import a2a_options, app
from tests.conformance.wires import Grpc, JsonRpc, Rest, Wire
from tests.serving import free_port, listening

CITATIONS = "https://extensions.example/citations/v1"
TRACES = "https://extensions.example/traces/v1"


@dataclass(frozen=True)
class Server:
    url: str
    grpc_address: str
    http: httpx.AsyncClient
    wires: dict[str, Wire]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncGenerator[Server, None]:
    port = free_port()
    extensions = [AgentExtension(uri=CITATIONS), AgentExtension(uri=TRACES)]

    def build(url: str) -> A2AApp:
        options = ServerOptions(public_url=url, grpc_port=port, extensions=extensions)
        return app_of(app, options.overriding(a2a_options))

    async with (
        listening(build) as url,
        httpx.AsyncClient(timeout=20) as http,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        wires: list[Wire] = [JsonRpc(http, f"{url}/"), Rest(http, url), Grpc(channel)]
        yield Server(url, f"127.0.0.1:{port}", http, {wire.name: wire for wire in wires})


@pytest.fixture(params=["jsonrpc", "rest", "grpc"])
def wire(request: pytest.FixtureRequest, server: Server) -> Wire:
    return server.wires[request.param]
