"""Section 8: what a client finds at the well-known address."""

from typing import Any

import pytest
from a2a.types import AgentCard
from google.protobuf.json_format import ParseDict

from tests.conformance.conftest import CITATIONS, TRACES, Server
from tests.conformance.wires import Json

pytestmark = pytest.mark.asyncio(loop_scope="module")

WELL_KNOWN = "/.well-known/agent-card.json"


async def card_of(server: Server, **request: Any) -> Json:
    return (await server.http.get(f"{server.url}{WELL_KNOWN}", **request)).json()


async def test_the_card_is_a_card_of_1_0_and_nothing_else(server: Server) -> None:
    """8.2, 4.4.1: every field is one of the normative definition, none of 0.3"""
    card = ParseDict(await card_of(server), AgentCard(), ignore_unknown_fields=False)
    assert (card.name, card.version) == ("conformance", "0.1.0")
    assert card.description
    assert [skill.id for skill in card.skills] == ["conformance"]
    assert card.default_input_modes
    assert card.default_output_modes


async def test_the_card_lists_every_binding_that_is_served(server: Server) -> None:
    """5.2, 8.3: absolute addresses, host:port for gRPC"""
    interfaces = (await card_of(server))["supportedInterfaces"]
    assert [(each["protocolBinding"], each["url"]) for each in interfaces] == [
        ("JSONRPC", f"{server.url}/"),
        ("HTTP+JSON", server.url),
        ("GRPC", server.grpc_address),
    ]
    assert {each["protocolVersion"] for each in interfaces} == {"1.0"}


async def test_the_card_declares_what_the_server_can(server: Server) -> None:
    """3.3.4, 4.6.1"""
    capabilities = (await card_of(server))["capabilities"]
    assert capabilities["streaming"] is True
    assert capabilities["extendedAgentCard"] is True
    assert capabilities["pushNotifications"] is True
    assert [each["uri"] for each in capabilities["extensions"]][:2] == [CITATIONS, TRACES]


async def test_the_card_can_be_cached_and_revalidated(server: Server) -> None:
    """8.6"""
    url = f"{server.url}{WELL_KNOWN}"
    fresh = await server.http.get(url)
    assert "max-age=" in fresh.headers["cache-control"]
    again = await server.http.get(url, headers={"If-None-Match": fresh.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    stale = await server.http.get(url, headers={"If-None-Match": '"another"'})
    assert (stale.status_code, stale.json()) == (200, fresh.json())


async def test_the_card_needs_no_version_and_is_json(server: Server) -> None:
    """8.2, 14.3"""
    response = await server.http.get(f"{server.url}{WELL_KNOWN}")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
