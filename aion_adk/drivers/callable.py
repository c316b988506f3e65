"""A Python function as an agent."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any, ClassVar, Unpack, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from typing_extensions import override

from aion_adk.drivers.answer import DriverAnswer
from aion_adk.drivers.driver import Driver, DriverItem, DriverOptions
from aion_adk.drivers.inputs import text_of_request

AnswerFunction = Callable[[str], Any] | Callable[[str, InvocationContext], Any]


class CallableAgent(Driver):
    """Calls `func` with the text, and with the ADK context if it takes a second parameter.

    A function or a generator, sync or async. It returns or yields text, parts, a Message, a
    dict or None; text that a generator yields is streamed. Sync code runs in a thread.
    """

    references: ClassVar[frozenset[str]] = frozenset({"func"})
    # A function that also emits through the context must not run ahead of what it yielded.
    ahead: ClassVar[int] = 0

    func: Callable[..., Any]

    def __init__(self, name: str, func: AnswerFunction, **options: Unpack[DriverOptions]) -> None:
        super().__init__(name=name, func=func, **options)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        text = text_of_request(ctx)
        args = (text, ctx) if _takes_context(self.func) else (text,)
        async for event in events_of_call(ctx, self.func, *args):
            yield event


async def events_of_call(
    ctx: InvocationContext, func: Callable[..., Any], *args: Any
) -> AsyncGenerator[Event, None]:
    """Calls `func` and answers with what it returns or yields."""
    answer = DriverAnswer(ctx)
    result = await result_of_call(func, *args)
    if isinstance(result, Iterator) and not isinstance(result, AsyncIterator):
        result = _in_thread(cast(Iterator[Any], result))
    if isinstance(result, AsyncIterator):
        async for item in cast(AsyncIterator[Any], result):
            if isinstance(item, str):
                for event in answer.add_chunk(item):
                    yield event
            else:
                answer.add(item)
    else:
        answer.add(result)
    for event in answer.final_events():
        yield event


async def result_of_call(func: Callable[..., Any], *args: Any) -> Any:
    """The result of a sync or an async call; sync code runs in a thread."""
    # Calling one of these only makes something to await or to iterate.
    lazy = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    method = getattr(func, "__call__", func)  # noqa: B004 # an object whose __call__ is async
    on_loop = any(is_lazy(func) or is_lazy(method) for is_lazy in lazy)

    def call() -> Any:
        try:
            return func(*args)
        except StopIteration as error:  # a future cannot hold one, and would never be done
            raise RuntimeError("the function raised StopIteration") from error

    result = call() if on_loop else await asyncio.to_thread(call)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(items: Iterator[Any]) -> AsyncGenerator[Any, None]:
    end = object()
    while (item := await asyncio.to_thread(next, items, end)) is not end:
        yield item


def _takes_context(func: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:
        return False
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    match [parameter for parameter in parameters if parameter.kind in by_place]:
        case [_, second, *_]:
            return second.default is second.empty or second.name in ("ctx", "context")
        case _:
            return False
