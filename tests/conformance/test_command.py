"""The command that a test kit's author would run."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import grpc.aio
import httpx

from tests.conformance.messages import send, state
from tests.conformance.wires import Grpc, JsonRpc, Rest, Wire
from tests.paths import ROOT
from tests.serving import free_port


@asynccontextmanager
async def served(*options: str) -> AsyncGenerator[None, None]:
    """Runs `aion-adk serve samples/conformance` from its first word to its last."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aion_adk", "serve", "samples/conformance", *options),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(40):
            async for line in process.stdout:
                if b"Stop:" in line:
                    break
        yield
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 20)


async def test_one_command_serves_the_agent_on_every_binding() -> None:
    port, grpc_port = free_port(), free_port()
    url, address = f"http://127.0.0.1:{port}", f"127.0.0.1:{grpc_port}"
    async with (
        served("--port", str(port), "--grpc-port", str(grpc_port)),
        httpx.AsyncClient() as http,
        grpc.aio.insecure_channel(address) as channel,
    ):
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
        interfaces = {each["protocolBinding"]: each["url"] for each in card["supportedInterfaces"]}
        assert interfaces == {"JSONRPC": f"{url}/", "HTTP+JSON": url, "GRPC": address}
        wires: list[Wire] = [JsonRpc(http, url), Rest(http, url), Grpc(channel)]
        for wire in wires:
            assert state(await send(wire, "tck-complete-task")) == "COMPLETED"
