"""Chat models that need no key."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

Chunk = str | dict[str, Any]
Answer = Callable[[list[BaseMessage]], AsyncIterator[Chunk]]


class StreamingChatModel(BaseChatModel):
    """Streams what `answer` yields for the messages it is given: text, or a content block."""

    answer: Answer

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        from langchain_core.language_models.chat_models import agenerate_from_stream

        return await agenerate_from_stream(self._astream(*args, **kwargs))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in self.answer(messages):
            content: Any = chunk if isinstance(chunk, str) else [chunk]
            generation = ChatGenerationChunk(message=AIMessageChunk(content=content))
            if run_manager:
                await run_manager.on_llm_new_token("", chunk=generation)
            yield generation


def answering(*chunks: Chunk) -> StreamingChatModel:
    async def answer(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        for chunk in chunks:
            yield chunk

    return StreamingChatModel(answer=answer)


def echoing() -> StreamingChatModel:
    """Repeats the last message and adds an exclamation mark, in two chunks."""

    async def answer(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        yield messages[-1].text
        yield "!"

    return StreamingChatModel(answer=answer)


def failing(chunks: Sequence[str], error: Exception) -> StreamingChatModel:
    async def answer(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        for chunk in chunks:
            yield chunk
        raise error

    return StreamingChatModel(answer=answer)


def hanging(hang: Callable[[], Awaitable[None]]) -> StreamingChatModel:
    async def answer(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        await hang()
        yield ""

    return StreamingChatModel(answer=answer)


def counting() -> StreamingChatModel:
    """Answers how many messages of the user it was given."""

    async def answer(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        yield str(sum(message.type == "human" for message in messages))

    return StreamingChatModel(answer=answer)
