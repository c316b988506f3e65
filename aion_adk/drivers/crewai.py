"""A CrewAI crew as an agent."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, ClassVar, Unpack, cast

from crewai import Crew
from crewai.crews.crew_output import CrewOutput
from crewai.events import LLMStreamChunkEvent, crewai_event_bus
from crewai.types.streaming import CrewStreamingOutput, StreamChunkType
from google.adk.agents.invocation_context import InvocationContext
from google.genai import types
from typing_extensions import override

from aion_adk.drivers.answer import DriverAnswer, agent_event
from aion_adk.drivers.driver import DriverItem
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver, is_streaming

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
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        inputs = await self._input(ctx)
        crew: Any = self.crew.copy()
        crew.stream = bool(self.crew.stream) and is_streaming(ctx)
        if crew.stream:
            crew.task_callback = _marking_the_end(crew.task_callback)
        output: CrewOutput | CrewStreamingOutput = await crew.akickoff(inputs=inputs)
        if isinstance(output, CrewStreamingOutput):
            task_ended, texts, unscaffold = False, list[str](), Unscaffold()
            async with aclosing(output):
                async for chunk in output:
                    if chunk.chunk_type is not StreamChunkType.TEXT:
                        continue
                    if chunk.content == _TASK_END:
                        task_ended = True
                        continue
                    if task_ended:
                        if texts:
                            yield agent_event(ctx, [types.Part(text="".join(texts))])
                        task_ended, texts, unscaffold = False, [], Unscaffold()
                    if text := unscaffold(chunk.content):
                        texts.append(text)
                        yield agent_event(ctx, [types.Part(text=text)], partial=True)
            output = output.result
        answer = DriverAnswer(ctx)
        if output.pydantic is not None:
            answer.add(output.pydantic.model_dump(mode="json"))
        else:
            answer.add(output.json_dict or output.raw)
        for event in answer.final_events():
            yield event

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        return {self.inputs_key: text}


def _marking_the_end(callback: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """A task callback that ends the task's text in the stream.

    CrewAI streams the chunks of all tasks as those of the first, so their end has to be in
    the stream itself.
    """

    def ended(output: Any) -> Any:
        crewai_event_bus.emit(None, LLMStreamChunkEvent(chunk=_TASK_END, call_id=_TASK_END))
        return callback(output) if callback else None

    return ended


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
        start = self._held.lstrip()
        _, marker, answer = self._held.partition(_FINAL_ANSWER)
        if marker:
            answer = answer.lstrip()
        elif any(start.startswith(word) or word.startswith(start) for word in _SCAFFOLD):
            return ""
        else:
            answer = self._held
        if answer:
            self._open = True
        return answer
