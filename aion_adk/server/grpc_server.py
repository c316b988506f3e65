"""Serves gRPC on a port of its own, with the same handler as HTTP."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import grpc
import grpc.aio
from a2a.auth.user import UnauthenticatedUser, User
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import GrpcHandler
from a2a.server.request_handlers.grpc_handler import DefaultGrpcServerCallContextBuilder
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes.common import StarletteUser
from a2a.types import AgentCard, a2a_pb2_grpc
from a2a.utils.constants import VERSION_HEADER
from a2a.utils.errors import VersionNotSupportedError
from starlette.authentication import SimpleUser

from aion_adk.server.authentication import UNAUTHENTICATED, caller_name
from aion_adk.server.middleware import answer_headers
from aion_adk.server.options import ServerOptions

_caller: ContextVar[str | None] = ContextVar("grpc_caller", default=None)

_OPTIONS = (
    # A second server on the port would get a share of the calls; it must fail to start.
    ("grpc.so_reuseport", 0),
    # Answers are as large here as over HTTP.
    ("grpc.max_send_message_length", -1),
)


class GrpcCallContexts(DefaultGrpcServerCallContextBuilder):
    """Adds the metadata as headers, as on HTTP; refuses versions that are not served."""

    def __init__(self, *, major: str) -> None:
        self._major = major

    def build_user(self, context: "grpc.aio.ServicerContext[Any, Any]") -> User:
        name = _caller.get()
        return StarletteUser(SimpleUser(name)) if name else UnauthenticatedUser()

    def build(self, context: "grpc.aio.ServicerContext[Any, Any]") -> ServerCallContext:
        call = super().build(context)  # pyright: ignore[reportUnknownMemberType]  # untyped grpc
        headers = headers_of(context.invocation_metadata())
        call.state["headers"] = headers
        version = headers.get(VERSION_HEADER.lower())
        # Without the header, the package of the service determines the version.
        if version and version.split(".")[0] != self._major:
            raise VersionNotSupportedError(f"A2A version '{version}' is not supported here.")
        return call


def headers_of(metadata: Any) -> dict[str, str]:
    """Text metadata under lower-case names; a name given twice is joined as HTTP does."""
    headers: dict[str, str] = {}
    for key, value in metadata or ():
        if isinstance(value, str):
            name = str(key).lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Authenticates the caller, and names the active extensions in the initial metadata."""

    def __init__(self, card: AgentCard, options: ServerOptions) -> None:
        self._extensions = card.capabilities.extensions
        self._authenticate = options.authenticate

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        method = await continuation(handler_call_details)
        if not method:
            return method
        coders = {
            "request_deserializer": method.request_deserializer,
            "response_serializer": method.response_serializer,
        }

        async def stream(request: Any, context: Any) -> AsyncGenerator[Any, None]:
            await self._begin(context)
            async for item in method.unary_stream(request, context):
                yield item

        async def unary(request: Any, context: Any) -> Any:
            await self._begin(context)
            return await method.unary_unary(request, context)

        if method.response_streaming:
            return grpc.unary_stream_rpc_method_handler(stream, **coders)
        return grpc.unary_unary_rpc_method_handler(unary, **coders)

    async def _begin(self, context: "grpc.aio.ServicerContext[Any, Any]") -> None:
        headers = headers_of(context.invocation_metadata())
        if self._authenticate:
            name = await caller_name(self._authenticate, headers)
            if not name:
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, UNAUTHENTICATED)
            _caller.set(name)
        if active := answer_headers(headers, declared=self._extensions):
            await context.send_initial_metadata(tuple(active.items()))


@asynccontextmanager
async def grpc_serving(
    handler: RequestHandler, card: AgentCard, options: ServerOptions, *, address: str
) -> AsyncGenerator[int, None]:
    """Serves A2A 1.0 and 0.3 on `address` (host:port); yields the port."""
    server = grpc.aio.server(
        interceptors=[CallInterceptor(card, options)],
        options=[*_OPTIONS, ("grpc.max_receive_message_length", options.max_request_bytes)],
    )
    current = GrpcHandler(handler, GrpcCallContexts(major="1"))
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(current, server)  # pyright: ignore[reportUnknownMemberType]  # generated
    legacy = CompatGrpcHandler(handler, GrpcCallContexts(major="0"))
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(legacy, server)  # pyright: ignore[reportUnknownMemberType]  # generated
    port = server.add_insecure_port(address)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(0)
