"""Needs crewai, which has an environment of its own: `make test-crewai`."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("crewai", reason="crewai is not installed here: make test-crewai")

from a2a.types import TaskState
from pydantic import BaseModel

from aion_adk.drivers import CrewAIAgent
from aion_adk.drivers.crewai import Unscaffold
from tests.drivers.cases.crews import crew_of, echoing
from tests.serving import deltas_of, reply_of, sections_of, send, serving, stream, text_of


async def test_each_task_is_a_section_and_the_last_is_the_reply() -> None:
    agent = CrewAIAgent("crew", crew_of(echoing, "<<first {inputs}>>", "<<second {inputs}>>"))
    async with serving(agent) as url:
        frames = await stream(url, "step")
        task = await send(url, "step")
    assert sections_of(frames) == ["first step!", "second step!"]
    assert text_of(frames[-1].status_update.status.message) == reply_of(task) == "second step!"


async def test_a_crew_that_does_not_stream_answers_a_stream_at_its_end() -> None:
    crew = crew_of(echoing)
    crew.stream = False
    async with serving(CrewAIAgent("crew", crew)) as url:
        frames = await stream(url, "hi")
    assert deltas_of(frames) == []
    assert text_of(frames[-1].status_update.status.message) == "hi!"


async def test_an_attribute_error_in_user_code_runs_nothing_twice() -> None:
    calls: list[Any] = []

    def broken(inputs: Any) -> Any:
        calls.append(inputs)
        return inputs.missing

    agent = CrewAIAgent("crew", crew_of(echoing, before_kickoff_callbacks=[broken]))
    async with serving(agent) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert len(calls) == 1


async def test_the_input_pipeline_fills_the_inputs() -> None:
    crew = crew_of(echoing, "<<{topic} {tone}>>")
    agent = CrewAIAgent("crew", crew, parse_json_input=True, default_inputs={"tone": "dry"})
    async with serving(agent) as url:
        task = await send(url, '{"topic": "cats", "tone": "loud"}')
    assert reply_of(task) == "cats dry!"


async def test_structured_output_is_answered_as_data() -> None:
    class City(BaseModel):
        name: str

    def answer(words: str) -> Iterator[str]:
        yield 'Final Answer: {"name": "Bonn"}'

    crew = crew_of(answer)
    crew.tasks[0].output_json = City
    async with serving(CrewAIAgent("crew", crew)) as url:
        message = (await send(url, "hi")).status.message
    assert dict(message.parts[0].data.struct_value.items()) == {"name": "Bonn"}


@pytest.mark.parametrize(
    ("chunks", "shown"),
    [
        (["plain ", "words"], ["plain ", "words"]),
        (["Th", "ought: x\nFinal Ans", "wer: yes", " no"], ["", "", "yes", " no"]),
        (["Thanks", " a lot"], ["Thanks", " a lot"]),
        (["Thought: x\nAction: search\n", "Action Input: {}"], ["", ""]),
        (["Final Answer:", " ", "a"], ["", "", "a"]),
    ],
)
def test_scaffold_words_are_not_shown(chunks: list[str], shown: list[str]) -> None:
    unscaffold = Unscaffold()
    assert [unscaffold(chunk) for chunk in chunks] == shown


def test_what_is_no_crew_is_refused() -> None:
    not_one: Any = "crew"
    with pytest.raises(TypeError, match="expected a Crew"):
        CrewAIAgent("crew", not_one)
