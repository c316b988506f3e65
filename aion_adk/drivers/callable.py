"""A Python function as an agent."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any, ClassVar, Unpack, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from typing_extensions import override

from aion_adk.drivers.answer import Answer
from aion_adk.drivers.driver import Answered, Driver, DriverOptions
from aion_adk.drivers.request import text_of_request

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
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[Answered, None]:
        text = text_of_request(ctx)
        args = (text, ctx) if _takes_context(self.func) else (text,)
        answer = Answer(ctx)
        async for event in answered(answer, self.func, *args):
            yield event


async def answered(
    answer: Answer, func: Callable[..., Any], *args: Any
) -> AsyncGenerator[Event, None]:
    """Calls `func`, adds what it returns or yields to `answer`, and ends it."""
    result = await called(func, *args)
    if isinstance(result, AsyncIterator):
        items = cast(AsyncIterator[Any], result)
    elif isinstance(result, Iterator):
        items = _in_thread(cast(Iterator[Any], result))
    else:
        items = None
        answer.add(result)
    if items is not None:
        async for item in items:
            if isinstance(item, str):
                for event in answer.chunk(item):
                    yield event
            else:
                answer.add(item)
    for event in answer.whole():
        yield event


async def called(func: Callable[..., Any], *args: Any) -> Any:
    """The result of a call that may be async, or sync and then made in a thread."""
    method = getattr(func, "__call__", func)  # noqa: B004 # an object whose __call__ is async
    on_loop = _on_loop(func) or _on_loop(method)
    result: Any = func(*args) if on_loop else await asyncio.to_thread(func, *args)
    return await result if inspect.isawaitable(result) else result


def _on_loop(func: Callable[..., Any]) -> bool:
    """Whether calling `func` only makes something to await or to iterate."""
    return (
        inspect.iscoroutinefunction(func)
        or inspect.isasyncgenfunction(func)
        or inspect.isgeneratorfunction(func)
    )


async def _in_thread(items: Iterator[Any]) -> AsyncGenerator[Any, None]:
    end = object()
    while (item := await asyncio.to_thread(next, items, end)) is not end:
        yield item


def _takes_context(func: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except ValueError:
        return False
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) < 2:
        return False
    second = positional[1]
    return second.default is second.empty or second.name in ("ctx", "context")
