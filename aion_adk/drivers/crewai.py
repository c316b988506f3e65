"""A CrewAI crew as an agent."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Any, ClassVar, Unpack, cast

from crewai import Crew
from crewai.crews.crew_output import CrewOutput
from crewai.events import LLMStreamChunkEvent, crewai_event_bus
from crewai.types.streaming import CrewStreamingOutput, StreamChunk, StreamChunkType
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types
from typing_extensions import override

from aion_adk.drivers.answer import Answer, said
from aion_adk.drivers.driver import Answered
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver
from aion_adk.drivers.request import is_streaming

_TASK_END = "\x1e"
_FINAL_ANSWER = "Final Answer:"
_SCAFFOLD = ("Thought:", "Action:", _FINAL_ANSWER)


class CrewAIOptions(InputOptions, total=False):
    """Keyword options of CrewAIAgent."""

    inputs_key: str


class CrewAIAgent(MappedInputDriver):
    """Kicks off a copy of `crew` for each turn, with the text as `inputs_key` of its inputs.

    A crew with `stream=True` streams each task's text without the words that CrewAI's prompts
    put around it. Crews run in threads: a cancelled run starts nothing more, but a call to a
    model that is under way ends by itself.
    """

    references: ClassVar[frozenset[str]] = frozenset({"crew"})

    crew: Any
    inputs_key: str = "inputs"

    def __init__(self, name: str, crew: Crew, **options: Unpack[CrewAIOptions]) -> None:
        if not isinstance(cast(object, crew), Crew):
            raise TypeError(f"expected a Crew, got {type(crew).__name__}")
        super().__init__(name=name, crew=crew, **options)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[Answered, None]:
        inputs = await self._input(ctx)
        crew: Any = self.crew.copy()
        crew.stream = bool(self.crew.stream) and is_streaming(ctx)
        if crew.stream:
            crew.task_callback = _marking_the_end(crew.task_callback)
        output: CrewOutput | CrewStreamingOutput = await crew.akickoff(inputs=inputs)
        if isinstance(output, CrewStreamingOutput):
            sections = _Sections(ctx)
            async with aclosing(output):
                async for chunk in output:
                    for event in sections.hear(chunk):
                        yield event
            output = output.result
        for event in _whole(ctx, output):
            yield event

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        return {self.inputs_key: text}


def _whole(ctx: InvocationContext, output: CrewOutput) -> Iterator[Event]:
    answer = Answer(ctx)
    if output.pydantic is not None:
        answer.add(output.pydantic.model_dump(mode="json"))
    else:
        answer.add(output.json_dict or output.raw)
    return answer.whole()


def _marking_the_end(callback: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """A task callback that ends the task's text in the stream.

    CrewAI streams the chunks of all tasks as those of the first, so their end has to be in
    the stream itself.
    """

    def ended(output: Any) -> Any:
        crewai_event_bus.emit(None, LLMStreamChunkEvent(chunk=_TASK_END, call_id=_TASK_END))
        return callback(output) if callback else None

    return ended


class _Sections:
    """The text of one task after the other."""

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._ended = False
        self._spoken: list[str] = []
        self._unscaffold = Unscaffold()

    def hear(self, chunk: StreamChunk) -> Iterator[Event]:
        if chunk.chunk_type is not StreamChunkType.TEXT:
            return
        if chunk.content == _TASK_END:
            self._ended = True
            return
        if self._ended:
            yield from self._next()
        if text := self._unscaffold(chunk.content):
            self._spoken.append(text)
            yield said(self._ctx, [types.Part(text=text)], partial=True)

    def _next(self) -> Iterator[Event]:
        if self._spoken:
            yield said(self._ctx, [types.Part(text="".join(self._spoken))])
        self._ended = False
        self._spoken = []
        self._unscaffold = Unscaffold()


class Unscaffold:
    """Takes a model's text chunk by chunk and gives back what is meant for a reader.

    CrewAI has models that cannot call functions write "Thought: …", "Action: …" and, before
    the answer, "Final Answer: ".
    """

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def __call__(self, chunk: str) -> str:
        if self._open:
            return chunk
        self._held += chunk
        _, marker, answer = self._held.partition(_FINAL_ANSWER)
        if marker:
            answer = answer.lstrip()
        elif _may_be_scaffold(self._held):
            return ""
        else:
            answer = self._held
        if answer:
            self._open = True
        return answer


def _may_be_scaffold(text: str) -> bool:
    start = text.lstrip()
    return any(start.startswith(word) or word.startswith(start) for word in _SCAFFOLD)
