"""Anything with `invoke(user_input, context_id)` as an agent."""

import asyncio
import functools
import inspect
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from typing import Any, ClassVar, Unpack

from google.adk.agents.invocation_context import InvocationContext
from pydantic import PrivateAttr
from typing_extensions import override

from aion_adk.card import CardFields
from aion_adk.drivers.answer import Answer
from aion_adk.drivers.callable import answered, called
from aion_adk.drivers.driver import Answered, Driver, DriverOptions
from aion_adk.drivers.request import conversation_id, is_streaming, text_of_request

logger = logging.getLogger(__name__)


class AdapterAgent(Driver):
    """Asks `adapter.invoke(user_input, context_id)`, or `adapter.stream(…)` where it has one and
    the caller reads a stream.

    The context id is one of this user's conversation, so two users never share one.
    `adapter.cancel()` is called when the run is cancelled, `adapter.close()` when the server
    stops, and `adapter.get_metadata()` describes the agent where no option does.
    """

    references: ClassVar[frozenset[str]] = frozenset({"adapter"})

    adapter: Any
    _running: Counter[str] = PrivateAttr(default_factory=Counter[str])

    def __init__(self, name: str, adapter: Any, **options: Unpack[DriverOptions]) -> None:
        if not callable(getattr(adapter, "invoke", None)):
            raise TypeError(f"expected an object with invoke(), got {type(adapter).__name__}")
        described: dict[str, Any] = {}
        if get_metadata := getattr(adapter, "get_metadata", None):
            metadata = get_metadata()
            for field in CardFields.model_fields:
                value = getattr(metadata, "name" if field == "display_name" else field, None)
                if value:
                    described[field] = value
        super().__init__(name=name, adapter=adapter, **{**described, **options})

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[Answered, None]:
        context_id = conversation_id(ctx)
        streams = is_streaming(ctx) and _streams(self.adapter)
        ask = self.adapter.stream if streams else self.adapter.invoke
        self._running[context_id] += 1
        try:
            async for event in answered(Answer(ctx), ask, text_of_request(ctx), context_id):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            await self._cancel(context_id)
            raise
        finally:
            self._running -= Counter({context_id: 1})

    async def _cancel(self, context_id: str) -> None:
        """Tells the adapter, unless its cancel() would stop another caller's run as well."""
        cancel = getattr(self.adapter, "cancel", None)
        if cancel is None:
            return
        if _accepts(cancel, "context_id"):
            await called(functools.partial(cancel, context_id=context_id))
        elif self._running.total() == 1:
            await called(cancel)

    @override
    async def aclose(self) -> None:
        if close := getattr(self.adapter, "close", None):
            await called(close)


def _streams(adapter: Any) -> bool:
    supports: Callable[[], bool] | None = getattr(adapter, "supports_streaming", None)
    return supports() if supports else callable(getattr(adapter, "stream", None))


def _accepts(function: Callable[..., Any], keyword: str) -> bool:
    return keyword in inspect.signature(function).parameters
