"""A LangChain Runnable as an agent."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cached_property
from typing import Any, ClassVar, Unpack, cast

from google.adk.agents.invocation_context import InvocationContext
from google.genai import types
from langchain_core.language_models import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.history import RunnableWithMessageHistory
from pydantic import BaseModel, Field
from typing_extensions import override

from aion_adk.drivers.answer import DriverAnswer, agent_event
from aion_adk.drivers.driver import DriverItem
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver, conversation_id, is_streaming
from aion_adk.drivers.langchain_messages import messages_before_turn, parts_of, request_messages
from aion_adk.protocol.from_genai import MESSAGE_ID, texts_in

_MESSAGE = "HumanMessage"


class LangChainOptions(InputOptions, total=False):
    """Keyword options of LangChainAgent."""

    input_key: str
    output_key: str | None
    config: RunnableConfig


class LangChainAgent(MappedInputDriver):
    """Calls any Runnable, also a bare chat model, and streams it if the caller reads a stream.

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
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        given = await self._input(ctx)
        # RunnableWithMessageHistory looks for its conversation under `session_id`.
        configurable = {"session_id": conversation_id(ctx), **self.config.get("configurable", {})}
        config = {**self.config, "configurable": configurable}
        output: Any = None
        if not is_streaming(ctx):
            output = self._answer_in(await self.runnable.ainvoke(given, config))
        else:
            stream: AsyncGenerator[Any, None] = self.runnable.astream(given, config)
            async with aclosing(stream):
                async for streamed in stream:
                    chunk = self._answer_in(streamed)
                    if chunk is None:
                        continue
                    try:
                        output = chunk if output is None else output + chunk
                    except TypeError:  # what cannot be added replaces what came before
                        output = chunk
                    if text := _text_of(chunk):
                        yield agent_event(ctx, [types.Part(text=text)], partial=True)
        if isinstance(output, AIMessage):
            if parts := parts_of(output):
                metadata = {MESSAGE_ID: output.id} if output.id else None
                yield agent_event(ctx, parts, metadata=metadata)
            return
        answer = DriverAnswer(ctx)
        answer.add(output.model_dump(mode="json") if isinstance(output, BaseModel) else output)
        for event in answer.final_events():
            yield event

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        if self.input_key:
            return {self.input_key: text}
        if self.runnable.InputType is str or isinstance(self.runnable, BaseLLM):
            return text
        schema = self._input_schema
        if "anyOf" in schema and _MESSAGE in schema.get("$defs", {}):
            return self._messages(ctx, with_request=True)
        properties: dict[str, Any] = schema.get("properties", {})
        takes_messages = {key: _MESSAGE in str(kind) for key, kind in properties.items()}
        # LangChain's name for an input that could be anything.
        takes_messages.pop("root", None)
        texts = [key for key, is_messages in takes_messages.items() if not is_messages]
        text_key = next(iter(texts), "")
        if not takes_messages or "input" in texts:
            text_key = "input"
        inputs: dict[str, Any] = {text_key: text} if text_key else {}
        for key, is_messages in takes_messages.items():
            if is_messages:
                inputs[key] = self._messages(ctx, with_request=not text_key)
        return inputs

    @cached_property
    def _input_schema(self) -> dict[str, Any]:
        return self.runnable.get_input_jsonschema()

    def _messages(self, ctx: InvocationContext, *, with_request: bool) -> list[BaseMessage]:
        """The conversation before this turn, and the request if it is not passed separately."""
        has_history = isinstance(self.runnable, RunnableWithMessageHistory)
        earlier = [] if has_history else messages_before_turn(ctx)
        return earlier + (request_messages(ctx) if with_request else [])

    def _answer_in(self, output: Any) -> Any:
        if self.output_key is None or not isinstance(output, Mapping):
            return output
        return cast(Mapping[str, Any], output).get(self.output_key)


def _text_of(chunk: Any) -> str:
    if isinstance(chunk, AIMessage):
        return "".join(texts_in(parts_of(chunk)))
    return chunk if isinstance(chunk, str) else ""
