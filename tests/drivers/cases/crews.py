import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM, llm_call_context

from aion_adk.drivers import CrewAIAgent
from tests.drivers.cases.case import SECRET, Case, Probe

Answer = Callable[[str], Iterator[str]]


class StreamingLLM(BaseLLM):
    """Streams what `answer` yields for the words between << and >> of the task."""

    answer: Any = None

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        prompt = messages if isinstance(messages, str) else messages[-1]["content"]
        words = prompt.split("<<")[1].split(">>")[0]
        text = ""
        with llm_call_context():
            for chunk in self.answer(words):
                text += chunk
                if self.stream:
                    self._emit_stream_chunk_event(
                        chunk=chunk,
                        from_task=options.get("from_task"),
                        from_agent=options.get("from_agent"),
                    )
        return text

    def supports_function_calling(self) -> bool:
        return False


def crew_of(answer: Answer, *descriptions: str, **options: Any) -> Crew:
    llm = StreamingLLM(model="fake", answer=answer)
    # CrewAI runs a task again that failed, and then it streams everything again.
    agent = Agent(role="r", goal="g", backstory="b", llm=llm, max_retry_limit=0)
    tasks = [
        Task(description=description, expected_output="words", agent=agent)
        for description in descriptions or ("<<{inputs}>>",)
    ]
    return Crew(agents=[agent], tasks=tasks, stream=True, **options)


def echoing(words: str) -> Iterator[str]:
    yield "Thought: I now can give a great answer\nFinal "
    yield "Answer: "
    yield words
    yield "!"


class CrewCase(Case):
    driver = "crewai"

    def echo(self, name: str = "echo") -> CrewAIAgent:
        return CrewAIAgent(name, crew_of(echoing))

    def failing(self) -> CrewAIAgent:
        def fail(words: str) -> Iterator[str]:
            yield "Final Answer: "
            yield from "ABC"
            raise ValueError(SECRET)

        return CrewAIAgent("failing", crew_of(fail))

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> CrewAIAgent:
        loop = asyncio.get_running_loop()
        released = threading.Event()

        def hang(words: str) -> Iterator[str]:
            loop.call_soon_threadsafe(probe.started.set)
            released.wait(20)
            yield "Final Answer: too late"

        def watch(inputs: Any) -> Any:
            run = asyncio.current_task()
            assert run
            run.add_done_callback(lambda task: ended(task.cancelled()))
            return inputs

        def ended(cancelled: bool) -> None:
            released.set()
            if cancelled:
                probe.cancelled.set()

        crew = crew_of(hang, before_kickoff_callbacks=[watch])
        return CrewAIAgent("hanging", crew, timeout=timeout)

    def counting(self) -> CrewAIAgent:
        turns: Counter[str] = Counter()

        def count(text: str, context_id: str) -> dict[str, str]:
            turns[context_id] += 1
            return {"inputs": str(turns[context_id])}

        def repeat(words: str) -> Iterator[str]:
            yield f"Final Answer: {words}"

        return CrewAIAgent("counting", crew_of(repeat), input_mapper=count)
