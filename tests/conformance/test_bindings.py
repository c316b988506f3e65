"""What belongs to one binding alone: sections 9, 10 and 11."""

import json
from contextlib import aclosing
from typing import Any

import grpc
import grpc.aio
import pytest

from tests.conformance.conftest import Server
from tests.conformance.messages import message, request, send, state
from tests.conformance.wires import V1, Json, Rest, call, data_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


def rpc(**fields: Any) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "nobody"}, **fields}


MALFORMED: dict[str, tuple[Any, int]] = {
    "9.5-no-json": (b"{not json", -32700),
    "9.3-wrong-version": (rpc(jsonrpc="1.0"), -32600),
    "9.3-no-version": ({"id": 1, "method": "GetTask"}, -32600),
    "9.3-no-method": ({"jsonrpc": "2.0", "id": 1}, -32600),
    "9.3-method-no-text": (rpc(method=7), -32600),
    "9.3-batch": ([rpc(), rpc()], -32600),
    "9.3-id-no-scalar": (rpc(id={"a": 1}), -32600),
    "9.5-unknown-method": (rpc(method="DoNothing"), -32601),
    "9.5-method-names-are-exact": (rpc(method="gettask"), -32601),
    "9.3-params-no-object": (rpc(params="nobody"), -32600),
    "9.5-params-of-wrong-type": (rpc(params={"id": {"nested": True}}), -32602),
    "9.5-no-params": ({"jsonrpc": "2.0", "id": 1, "method": "GetTask"}, -32602),
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_a_malformed_call_gets_the_standard_code(server: Server, name: str) -> None:
    """9.3, 9.5"""
    sent, code = MALFORMED[name]
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    response = await server.http.post(f"{server.url}/", headers=V1, content=body)
    answer = response.json()
    assert (response.status_code, answer["jsonrpc"], answer["error"]["code"]) == (200, "2.0", code)
    assert answer["error"]["message"]


@pytest.mark.parametrize("call_id", ["text", 42, 0, "", None])
async def test_the_id_of_a_call_comes_back(server: Server, call_id: Any) -> None:
    """9.1"""
    response = await server.http.post(f"{server.url}/", headers=V1, json=rpc(id=call_id))
    assert response.json()["id"] == call_id


@pytest.mark.parametrize("path", ["", "/"])
async def test_calls_are_taken_with_and_without_a_slash(server: Server, path: str) -> None:
    """8.3"""
    response = await server.http.post(f"{server.url}{path}", headers=V1, json=rpc())
    assert response.json()["error"]["code"] == -32001


async def test_answers_over_json_rpc_are_json(server: Server) -> None:
    """9.1"""
    response = await server.http.post(f"{server.url}/", headers=V1, json=rpc())
    assert response.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize("media_type", ["application/json", "application/a2a+json"])
async def test_rest_takes_both_media_types_and_answers_in_its_own(
    server: Server, media_type: str
) -> None:
    """11.1, 14.1"""
    headers = {**V1, "Content-Type": media_type}
    url = f"{server.url}/message:send"
    response = await server.http.post(url, headers=headers, json=request("tck-complete-task"))
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/a2a+json")


@pytest.mark.parametrize("body", [b"{not json", b"[]", b'{"message": "text"}', b""])
async def test_rest_refuses_a_body_that_is_no_request(server: Server, body: bytes) -> None:
    """11.6"""
    response = await server.http.post(f"{server.url}/message:send", headers=V1, content=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert error["message"]


@pytest.mark.parametrize("query", ["historyLength=many", "historyLength=-1"])
async def test_rest_refuses_a_query_that_cannot_be_meant(server: Server, query: str) -> None:
    """11.5"""
    task = await send(server.wires["rest"], "tck-complete-task")
    url = f"{server.url}/tasks/{task['id']}?{query}"
    response = await server.http.get(url, headers=V1)
    assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_rest_serves_a_tenant_under_its_own_path(server: Server) -> None:
    """11.3, 4.4.6: the tenant of an interface is a path segment"""
    tenant = Rest(server.http, f"{server.url}/acme")
    task = await send(tenant, "tck-complete-task")
    assert (await call(tenant, "GetTask", {"id": task["id"]}))["id"] == task["id"]


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_rest_subscribes_by_get_and_by_post(server: Server, verb: str) -> None:
    """11.3.2"""
    rest = server.wires["rest"]
    paused = await send(rest, "tck-input-required")
    url = f"{server.url}/tasks/{paused['id']}:subscribe"
    async with (
        server.http.stream(verb, url, headers=V1) as response,
        aclosing(data_of(response)) as frames,
    ):
        assert state((await anext(frames))["task"]) == "INPUT_REQUIRED"


async def test_grpc_answers_a_method_it_does_not_have_with_unimplemented(server: Server) -> None:
    """10.3"""
    async with grpc.aio.insecure_channel(server.grpc_address) as channel:
        method: Any = channel.unary_unary  # pyright: ignore[reportUnknownMemberType]  # untyped
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await method("/lf.a2a.v1.A2AService/DoNothing")(b"")
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_grpc_takes_a_call_without_a_version(server: Server) -> None:
    """10.2: the package of the service names it"""
    sent = {"message": message("tck-complete-task")}
    task = (await call(server.wires["grpc"], "SendMessage", sent, headers={}))["task"]
    assert state(task) == "COMPLETED"
