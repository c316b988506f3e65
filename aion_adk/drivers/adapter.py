"""Anything with `invoke(user_input, context_id)` as an agent."""

import asyncio
import functools
import inspect
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any, ClassVar, Unpack

from google.adk.agents.invocation_context import InvocationContext
from pydantic import PrivateAttr
from typing_extensions import override

from aion_adk.card import CardFields
from aion_adk.drivers.callable import events_of_call, result_of_call
from aion_adk.drivers.driver import Driver, DriverItem, DriverOptions
from aion_adk.drivers.inputs import conversation_id, is_streaming, text_of_request


class AdapterAgent(Driver):
    """Calls `adapter.invoke(user_input, context_id)`, or `adapter.stream(…)` if it has one and the
    caller reads a stream.

    The context id belongs to one user's conversation: two users never share one.
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
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        adapter, context_id = self.adapter, conversation_id(ctx)
        method = adapter.invoke
        if is_streaming(ctx):
            supports = getattr(adapter, "supports_streaming", None)
            if supports() if supports else callable(getattr(adapter, "stream", None)):
                method = adapter.stream
        self._running[context_id] += 1
        try:
            async for event in events_of_call(ctx, method, text_of_request(ctx), context_id):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            if cancel := getattr(adapter, "cancel", None):
                if "context_id" in inspect.signature(cancel).parameters:
                    await result_of_call(functools.partial(cancel, context_id=context_id))
                elif self._running.total() == 1:  # it would cancel other callers' runs as well
                    await result_of_call(cancel)
            raise
        finally:
            self._running -= Counter({context_id: 1})

    @override
    async def aclose(self) -> None:
        if close := getattr(self.adapter, "close", None):
            await result_of_call(close)
