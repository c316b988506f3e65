"""The ASGI app of one agent: what it serves, and how it opens and closes."""

import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable

from a2a.types import AgentCard
from google.adk.workflow import BaseNode
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aion_adk.card import nodes_of
from aion_adk.server.lifespan import fewer_collections, on_stop_signal

logger = logging.getLogger(__name__)

Close = Callable[[], Awaitable[None]]
ServeGrpc = Callable[[], contextlib.AbstractAsyncContextManager[int | None]]
"""Serves gRPC inside the block; yields the port."""


class A2AApp(Starlette):
    """The ASGI app of one agent. It can be mounted under any prefix of another app.

    A server runs the lifespan of the app it is given, not those of mounted ones: enter
    `running()` in the outer app's lifespan, or await `aclose()` at its end.
    """

    def __init__(
        self,
        *,
        card: AgentCard,
        routes: list[BaseRoute],
        middleware: list[Middleware],
        open: Callable[[], Awaitable[None]] | None = None,
        begin_shutdown: Callable[[], None],
        closing: list[tuple[str, Close]],
        grpc: ServeGrpc | None = None,
    ) -> None:
        super().__init__(routes=routes, middleware=middleware, lifespan=lambda _: self.running())
        self.router.redirect_slashes = False
        self.card = card
        self.grpc_port: int | None = None
        self._grpc = grpc or contextlib.nullcontext
        self._open = open
        self._begin_shutdown = begin_shutdown
        self._closing = closing

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        """Serves inside the block, gRPC too; then closes the app."""
        if self._open:
            await self._open()
        async with self._grpc() as self.grpc_port:
            try:
                with fewer_collections(), on_stop_signal(self._begin_shutdown):
                    yield
            finally:
                await self.aclose()

    async def aclose(self) -> None:
        """Ends running tasks, then closes the runner, its toolsets, the agents and the stores."""
        while self._closing:
            name, close = self._closing.pop(0)
            try:
                await close()
            except Exception:
                logger.exception("closing %s failed", name)

    def mounted(self, prefix: str) -> list[BaseRoute]:
        """Routes that serve this app under `prefix`, with and without a slash at its end."""
        prefix = f"/{prefix.strip('/')}"
        return [Route(prefix, _AtPrefix(self, prefix)), Mount(prefix, self)]


def closing_of(root: BaseNode, *, stores: list[object]) -> list[tuple[str, Close]]:
    """How to close what `Runner.close()` leaves open: agents with `aclose`, and the stores."""
    nodes = {id(node): node for node, _ in nodes_of(root)}
    closing = [(node.name, getattr(node, "aclose", None)) for node in nodes.values()]
    for store in stores:
        close = getattr(store, "aclose", None) or getattr(store, "close", None)
        closing.append((type(store).__name__, close))
    return [(name, close) for name, close in closing if close]


class _AtPrefix:
    """Serves a mounted app's root at the prefix itself, where Starlette would redirect.

    It is a class because Starlette calls a function with a request, not as an ASGI app.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root_path = f"{scope.get('root_path', '')}{self._prefix}"
        scope = {**scope, "root_path": root_path, "path": f"{scope['path']}/"}
        await self._app(scope, receive, send)
