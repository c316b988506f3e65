"""A LangChain Runnable as an agent."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cached_property
from typing import Any, ClassVar, Unpack, cast

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types
from langchain_core.language_models import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.history import RunnableWithMessageHistory
from pydantic import BaseModel, Field
from typing_extensions import override

from aion_adk.drivers.answer import Answer, said
from aion_adk.drivers.driver import Answered
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver
from aion_adk.drivers.messages import conversation, human_message, parts_of
from aion_adk.drivers.request import conversation_id, is_streaming
from aion_adk.outbound import MESSAGE_ID

_MESSAGE = "HumanMessage"


class LangChainOptions(InputOptions, total=False):
    """Keyword options of LangChainAgent."""

    input_key: str
    output_key: str | None
    config: RunnableConfig


class LangChainAgent(MappedInputDriver):
    """Calls any Runnable, a bare chat model as well, and streams it where the caller streams.

    A Runnable that takes messages is given the conversation from the ADK session. One that
    takes an object is given the text under `input_key`, or under the name that its input
    schema has for it. `output_key` names the answer in an output that is an object.
    """

    references: ClassVar[frozenset[str]] = frozenset({"runnable"})

    runnable: Any
    input_key: str = ""
    output_key: str | None = None
    config: dict[str, Any] = Field(default_factory=dict[str, Any])

    def __init__(
        self, name: str, runnable: Runnable[Any, Any], **options: Unpack[LangChainOptions]
    ) -> None:
        if not isinstance(cast(object, runnable), Runnable):
            raise TypeError(f"expected a Runnable, got {type(runnable).__name__}")
        super().__init__(name=name, runnable=runnable, **options)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[Answered, None]:
        given = await self._input(ctx)
        config = self._config_of(ctx)
        if not is_streaming(ctx):
            output: Any = await self.runnable.ainvoke(given, config)
            for event in _whole(ctx, self._picked(output)):
                yield event
            return
        total: Any = None
        stream: AsyncGenerator[Any, None] = self.runnable.astream(given, config)
        async with aclosing(stream):
            async for output in stream:
                chunk = self._picked(output)
                total = _sum(total, chunk)
                if text := _text(chunk):
                    yield said(ctx, [types.Part(text=text)], partial=True)
        for event in _whole(ctx, total):
            yield event

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        if self.input_key:
            return {self.input_key: text}
        shape = self._shape
        if shape.is_text:
            return text
        if shape.is_messages:
            return self._messages(ctx, asked=True)
        inputs: dict[str, Any] = {shape.text_key: text} if shape.text_key else {}
        for key in shape.message_keys:
            inputs[key] = self._messages(ctx, asked=not shape.text_key)
        return inputs

    @cached_property
    def _shape(self) -> "_Shape":
        return _shape_of(self.runnable)

    def _messages(self, ctx: InvocationContext, *, asked: bool) -> list[BaseMessage]:
        """The conversation before this turn, and what was asked in it."""
        remembers = isinstance(self.runnable, RunnableWithMessageHistory)
        earlier = [] if remembers else conversation(ctx)
        request = human_message(ctx) if asked else None
        return [*earlier, *([request] if request else [])]

    def _picked(self, output: Any) -> Any:
        if self.output_key is None or not isinstance(output, Mapping):
            return output
        return cast(Mapping[str, Any], output).get(self.output_key)

    def _config_of(self, ctx: InvocationContext) -> RunnableConfig:
        """`session_id` is where RunnableWithMessageHistory looks for its conversation."""
        given = self.config
        configurable = {"session_id": conversation_id(ctx), **given.get("configurable", {})}
        return cast(RunnableConfig, {**given, "configurable": configurable})


class _Shape(BaseModel):
    """What a Runnable takes: text, messages, or an object with these keys."""

    is_text: bool = False
    is_messages: bool = False
    text_key: str = "input"
    message_keys: tuple[str, ...] = ()


def _shape_of(runnable: Runnable[Any, Any]) -> _Shape:
    if runnable.InputType is str or isinstance(runnable, BaseLLM):
        return _Shape(is_text=True)
    schema = runnable.get_input_jsonschema()
    if "anyOf" in schema and _MESSAGE in schema.get("$defs", {}):
        return _Shape(is_messages=True)
    properties: dict[str, Any] = schema.get("properties", {})
    # LangChain's name for an input that could be anything.
    properties.pop("root", None)
    messages = tuple(key for key, value in properties.items() if _MESSAGE in str(value))
    texts = [key for key in properties if key not in messages]
    if not properties or "input" in texts:
        return _Shape(message_keys=messages)
    return _Shape(text_key=texts[0] if texts else "", message_keys=messages)


def _sum(total: Any, chunk: Any) -> Any:
    """Chunks add up to the output; what cannot be added replaces what came before."""
    if total is None or chunk is None:
        return chunk if total is None else total
    try:
        return total + chunk
    except TypeError:
        return chunk


def _text(chunk: Any) -> str:
    if isinstance(chunk, AIMessage):
        return "".join(part.text for part in parts_of(chunk) if part.text and not part.thought)
    return chunk if isinstance(chunk, str) else ""


def _whole(ctx: InvocationContext, output: Any) -> list[Event]:
    if isinstance(output, AIMessage):
        metadata = {MESSAGE_ID: output.id} if output.id else None
        parts = parts_of(output)
        return [said(ctx, parts, metadata=metadata)] if parts else []
    answer = Answer(ctx)
    answer.add(output.model_dump(mode="json") if isinstance(output, BaseModel) else output)
    return list(answer.whole())
