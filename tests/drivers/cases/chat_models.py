"""Chat models that need no key."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

Chunk = str | dict[str, Any]
Talk = Callable[[list[BaseMessage]], AsyncIterator[Chunk]]


class Talking(BaseChatModel):
    """Streams what `talk` yields for the messages it is given: text, or a content block."""

    talk: Talk

    @property
    def _llm_type(self) -> str:
        return "talking"

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
        async for chunk in self.talk(messages):
            content: Any = chunk if isinstance(chunk, str) else [chunk]
            generation = ChatGenerationChunk(message=AIMessageChunk(content=content))
            if run_manager:
                await run_manager.on_llm_new_token("", chunk=generation)
            yield generation


def saying(*chunks: Chunk) -> Talking:
    async def talk(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        for chunk in chunks:
            yield chunk

    return Talking(talk=talk)


def parrot() -> Talking:
    """Repeats the last message and adds an exclamation mark, in two chunks."""

    async def talk(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        yield messages[-1].text
        yield "!"

    return Talking(talk=talk)


def failing(chunks: Sequence[str], error: Exception) -> Talking:
    async def talk(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        for chunk in chunks:
            yield chunk
        raise error

    return Talking(talk=talk)


def hanging(hang: Callable[[], Awaitable[None]]) -> Talking:
    async def talk(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        await hang()
        yield ""

    return Talking(talk=talk)


def counting() -> Talking:
    """Says how many messages of the user it was given."""

    async def talk(messages: list[BaseMessage]) -> AsyncIterator[Chunk]:
        yield str(sum(message.type == "human" for message in messages))

    return Talking(talk=talk)
