"""a2a-sdk's client on each of A2A's bindings."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import grpc.aio
import httpx
from a2a.client import Client, ClientConfig, create_client

BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"]


@asynccontextmanager
async def client_on(
    binding: str, url: str, *, streaming: bool = True
) -> AsyncGenerator[Client, None]:
    """A client that found the server by its card, and uses `binding`."""
    async with httpx.AsyncClient(timeout=20) as http:
        config = ClientConfig(
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_protocol_bindings=[binding],
            streaming=streaming,
        )
        async with await create_client(url, client_config=config) as client:
            yield client
