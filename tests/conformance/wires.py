"""The three bindings as bytes on a socket: no client library that could hide a server's fault."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

import grpc
import grpc.aio
import httpx
from a2a.types import a2a_pb2, a2a_pb2_grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message as Proto
from google.rpc import error_details_pb2, status_pb2

Json = dict[str, Any]
V1 = {"A2A-Version": "1.0"}

STREAMING = ("SendStreamingMessage", "SubscribeToTask")


@dataclass
class Refusal(Exception):
    """An error as the binding carries it: its own code, and the reason where it has one."""

    code: int | str
    message: str
    reason: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Answer:
    body: Json
    headers: Mapping[str, str]


class Wire(Protocol):
    name: str

    async def answer(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> Answer: ...

    def frames(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> AsyncGenerator[Json, None]: ...


async def call(wire: Wire, operation: str, params: Json, **options: Any) -> Json:
    return (await wire.answer(operation, params, **options)).body


async def refusal_of(
    wire: Wire, operation: str, params: Json, *, headers: Mapping[str, str] = V1
) -> Refusal:
    """The error that the call ends with; a failed assertion when it does not."""
    try:
        if operation in STREAMING:
            body: Any = [frame async for frame in wire.frames(operation, params, headers=headers)]
        else:
            body = (await wire.answer(operation, params, headers=headers)).body
    except Refusal as refusal:
        return refusal
    raise AssertionError(f"{operation} was answered with {body}")


class JsonRpc:
    name = "jsonrpc"

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def answer(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> Answer:
        response = await self._http.post(
            self._url, json=self.envelope(operation, params), headers=headers
        )
        assert response.status_code == 200
        return Answer(self._result(response.json(), response.headers) or {}, response.headers)

    async def frames(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> AsyncGenerator[Json, None]:
        request = self.envelope(operation, params)
        async with self._http.stream("POST", self._url, json=request, headers=headers) as response:
            if not response.headers["content-type"].startswith("text/event-stream"):
                self._result(json.loads(await response.aread()), response.headers)
                raise AssertionError("a stream that is no stream and no error")
            async for frame in data_of(response):
                result = self._result(frame, response.headers)
                assert result is not None
                yield result

    def envelope(self, operation: str, params: Json) -> Json:
        return {"jsonrpc": "2.0", "id": "call-7", "method": operation, "params": params}

    def _result(self, body: Json, headers: Mapping[str, str]) -> Json | None:
        assert body["jsonrpc"] == "2.0"
        assert body["id"] == "call-7"
        if error := body.get("error"):
            raise Refusal(
                code=error["code"],
                message=error["message"],
                reason=_reason(error.get("data") or []),
                headers=headers,
            )
        return body["result"]


class Rest:
    name = "rest"

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def answer(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> Answer:
        method, path, body = rest_request(operation, params)
        response = await self._http.request(
            method, f"{self._url}{path}", json=body, headers=headers
        )
        if response.status_code >= 400:
            raise _rest_refusal(response.status_code, response.json(), response.headers)
        return Answer(response.json() if response.content else {}, response.headers)

    async def frames(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> AsyncGenerator[Json, None]:
        method, path, body = rest_request(operation, params)
        async with self._http.stream(
            method, f"{self._url}{path}", json=body, headers=headers
        ) as response:
            if response.status_code >= 400:
                error = json.loads(await response.aread())
                raise _rest_refusal(response.status_code, error, response.headers)
            assert response.headers["content-type"].startswith("text/event-stream")
            async for frame in data_of(response):
                yield frame


def rest_request(operation: str, params: Json) -> tuple[str, str, Json | None]:
    """Section 11.3: the method, the path with its query, and the body."""
    rest = dict(params)
    match operation:
        case "SendMessage":
            return "POST", "/message:send", rest
        case "SendStreamingMessage":
            return "POST", "/message:stream", rest
        case "CancelTask":
            return "POST", f"/tasks/{rest.pop('id')}:cancel", rest
        case "SubscribeToTask":
            return "GET", f"/tasks/{rest.pop('id')}:subscribe", None
        case "GetTask":
            return "GET", _queried(f"/tasks/{rest.pop('id')}", rest), None
        case "ListTasks":
            return "GET", _queried("/tasks", rest), None
        case "CreateTaskPushNotificationConfig":
            return "POST", f"/tasks/{rest['taskId']}/pushNotificationConfigs", rest
        case "ListTaskPushNotificationConfigs":
            path = f"/tasks/{rest.pop('taskId')}/pushNotificationConfigs"
            return "GET", _queried(path, rest), None
        case "GetTaskPushNotificationConfig":
            return "GET", f"/tasks/{rest['taskId']}/pushNotificationConfigs/{rest['id']}", None
        case "DeleteTaskPushNotificationConfig":
            return "DELETE", f"/tasks/{rest['taskId']}/pushNotificationConfigs/{rest['id']}", None
        case "GetExtendedAgentCard":
            return "GET", "/extendedAgentCard", None
        case _:
            raise ValueError(operation)


class Grpc:
    name = "grpc"

    def __init__(self, channel: grpc.aio.Channel) -> None:
        make_stub: Callable[[grpc.aio.Channel], Any] = a2a_pb2_grpc.A2AServiceStub
        self._stub = make_stub(channel)

    async def answer(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> Answer:
        sent = getattr(self._stub, operation)(
            _request(operation, params), metadata=_metadata(headers)
        )
        try:
            reply: Proto = await sent
        except grpc.aio.AioRpcError as error:
            raise _grpc_refusal(error) from error
        body: Json = {} if isinstance(reply, Empty) else MessageToDict(reply)
        return Answer(body, dict(await sent.initial_metadata()))

    async def frames(
        self, operation: str, params: Json, *, headers: Mapping[str, str] = V1
    ) -> AsyncGenerator[Json, None]:
        sent = getattr(self._stub, operation)(
            _request(operation, params), metadata=_metadata(headers)
        )
        try:
            async for frame in sent:
                yield MessageToDict(frame)
        except grpc.aio.AioRpcError as error:
            raise _grpc_refusal(error) from error
        finally:
            sent.cancel()


_REQUESTS: dict[str, type[Proto]] = {
    "SendStreamingMessage": a2a_pb2.SendMessageRequest,
    "CreateTaskPushNotificationConfig": a2a_pb2.TaskPushNotificationConfig,
}


def _request(operation: str, params: Json) -> Proto:
    kind = _REQUESTS.get(operation) or getattr(a2a_pb2, f"{operation}Request")
    return ParseDict(params, kind())


def _metadata(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in headers.items())


async def data_of(response: httpx.Response) -> AsyncGenerator[Json, None]:
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


def _queried(path: str, params: Json) -> str:
    query = {
        name: str(value).lower() if value in (True, False) and isinstance(value, bool) else value
        for name, value in params.items()
    }
    return f"{path}?{urlencode(query)}" if query else path


def _reason(details: list[Json]) -> str | None:
    infos = [item for item in details if item.get("@type", "").endswith("google.rpc.ErrorInfo")]
    assert all(info["domain"] == "a2a-protocol.org" for info in infos)
    return infos[0]["reason"] if infos else None


def _rest_refusal(status: int, body: Json, headers: Mapping[str, str]) -> Refusal:
    error = body["error"]
    assert error["code"] == status
    return Refusal(
        code=status,
        message=error["message"],
        reason=_reason(error.get("details") or []),
        headers=headers,
    )


def _grpc_refusal(error: grpc.aio.AioRpcError) -> Refusal:
    reason = None
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            status = status_pb2.Status.FromString(value)
            for detail in status.details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    assert info.domain == "a2a-protocol.org"
                    reason = info.reason
    return Refusal(code=error.code().name, message=error.details() or "", reason=reason)
