import socket

import grpc.aio
import pytest

from aion_adk import to_a2a
from aion_adk.server.card_routes import host_and_port
from tests.clients.storyteller import Storyteller
from tests.conformance.messages import send, state
from tests.conformance.wires import Grpc
from tests.serving import free_port


@pytest.mark.parametrize(("host", "address"), [("::1", "[::1]:5"), ("a.example", "a.example:5")])
def test_an_address_is_a_host_and_a_port(host: str, address: str) -> None:
    assert host_and_port(host, 5) == address


async def test_a_free_port_is_taken_and_known_while_the_app_runs() -> None:
    app = to_a2a(Storyteller(name="storyteller"), grpc_port=0)
    async with (
        app.running(),
        grpc.aio.insecure_channel(f"127.0.0.1:{app.grpc_port}") as channel,
    ):
        assert state(await send(Grpc(channel), "any")) == "COMPLETED"


async def test_a_port_that_is_taken_stops_the_start() -> None:
    port = free_port()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        app = to_a2a(Storyteller(name="storyteller"), grpc_port=port)
        with pytest.raises(RuntimeError, match=str(port)):
            async with app.running():
                pass
