import pytest
from a2a.types import GetTaskRequest, TaskState
from openai import AsyncOpenAI, BadRequestError, NotFoundError
from openai.types.responses import FunctionToolParam, Response, ResponseStreamEvent

from tests.front_ends.calling import openai_client
from tests.front_ends.conversations import (
    LOCATION_SCHEMA,
    Breaking,
    Failing,
    Hello,
    Reporting,
    approving_agent,
    locating_agent,
    weather_agent,
)
from tests.serving import client_of, serving

TOOL: FunctionToolParam = {
    "type": "function",
    "name": "get_location",
    "description": "Where the user is.",
    "parameters": LOCATION_SCHEMA,
    "strict": True,
}


async def events_of(client: AsyncOpenAI, model: str, given: str) -> list[ResponseStreamEvent]:
    stream = await client.responses.create(model=model, input=given, stream=True)
    return [event async for event in stream]


def kinds_of(response: Response) -> list[str]:
    return [item.type for item in response.output]


async def test_a_response_shows_thoughts_server_tools_and_text_as_items() -> None:
    async with serving(weather_agent(), openai=True) as url, openai_client(url) as client:
        response = await client.responses.create(model="weather", input="weather?")
        again = await client.responses.retrieve(response.id)
        async with client_of(url) as a2a:
            task = await a2a.get_task(GetTaskRequest(id=response.id.removeprefix("resp_")))
    assert response.status == "completed"
    assert kinds_of(response) == ["reasoning", "message", "mcp_call", "message"]
    assert response.output_text == "Looking.Clear skies over Oakland."
    call = response.output[2]
    assert call.type == "mcp_call"
    assert (call.name, call.arguments, call.output) == (
        "get_weather",
        '{"city": "Oakland"}',
        '{"sky": "clear"}',
    )
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (20, 10)
    assert response.usage.output_tokens_details.reasoning_tokens == 4
    assert again.model_dump() == response.model_dump()
    assert task.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_streamed_response_ends_with_what_a_whole_one_is() -> None:
    async with serving(weather_agent(), openai=True) as url, openai_client(url) as client:
        events = await events_of(client, "weather", "weather?")
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events[:2]] == ["response.created", "response.in_progress"]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == "Looking.Clear skies over Oakland."
    assert len(deltas) == 4
    last = events[-1]
    assert last.type == "response.completed"
    assert kinds_of(last.response) == ["reasoning", "message", "mcp_call", "message"]
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert len(done) == 4
    assert [event.type for event in events if "mcp" in event.type] == [
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_call.completed",
    ]


async def test_a_clients_tool_is_answered_after_the_previous_response() -> None:
    async with serving(locating_agent(), openai=True) as url, openai_client(url) as client:
        first = await client.responses.create(
            model="locating", input="where am I?", tools=[TOOL], instructions="Be brief."
        )
        assert kinds_of(first) == ["message", "function_call"]
        call = first.output[1]
        assert call.type == "function_call"
        second = await client.responses.create(
            model="locating",
            previous_response_id=first.id,
            tools=[TOOL],
            input=[{"type": "function_call_output", "call_id": call.call_id, "output": "Oakland"}],
        )
        before = await client.responses.retrieve(first.id)
    assert second.output_text == "You are in Oakland."
    assert second.previous_response_id == first.id
    assert second.id == f"{first.id}.2"
    assert kinds_of(before) == ["message", "function_call"]


async def test_a_streamed_call_of_a_clients_tool_names_the_tool_and_its_arguments() -> None:
    async with serving(locating_agent(), openai=True) as url, openai_client(url) as client:
        stream = await client.responses.create(
            model="locating", input="where?", tools=[TOOL], stream=True
        )
        events = [event async for event in stream]
    [done] = [e for e in events if e.type == "response.function_call_arguments.done"]
    assert (done.name, done.arguments) == ("get_location", '{"precise": true}')
    assert events[-1].type == "response.completed"


async def test_a_person_approves_in_words_after_the_previous_response() -> None:
    async with serving(approving_agent(), openai=True) as url, openai_client(url) as client:
        paused = await client.responses.create(model="approving", input="send 5")
        done = await client.responses.create(
            model="approving", previous_response_id=paused.id, input="yes"
        )
    assert "Approve wire_money(amount=5)?" in paused.output_text
    assert done.output_text == "Done."


async def test_a_conversation_is_an_a2a_context() -> None:
    async with serving(Hello(name="hello"), openai=True) as url, openai_client(url) as client:
        raw = await client.responses.with_raw_response.create(
            model="hello", input="hi", conversation="conv_1"
        )
    assert raw.headers["x-a2a-context-id"] == "conv_1"


async def test_files_go_both_ways() -> None:
    agent = Reporting(name="reporting")
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        response = await client.responses.create(
            model="reporting",
            input=[
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "input_image",
                            "image_url": "data:image/png;base64,cG5n",
                            "detail": "auto",
                        },
                        {"type": "input_file", "filename": "a.txt", "file_data": "aGk="},
                    ],
                }
            ],
        )
    assert "Got image/png b'png', text/plain b'hi'." in response.output_text
    assert "[report](https://example.com/r.pdf)" in response.output_text


async def test_a_failed_turn_is_a_failed_response_and_nothing_leaks() -> None:
    async with serving(Failing(name="failing"), openai=True) as url, openai_client(url) as client:
        response = await client.responses.create(model="failing", input="go")
        events = await events_of(client, "failing", "go")
    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.code, response.error.message) == ("server_error", "The oven is cold.")
    assert events[-1].type == "response.failed"
    async with serving(Breaking(name="breaking"), openai=True) as url, openai_client(url) as client:
        broken = await client.responses.create(model="breaking", input="go")
    assert "hunter2" not in broken.model_dump_json()


async def test_what_is_not_there_is_not_found() -> None:
    async with serving(Hello(name="hello"), openai=True) as url, openai_client(url) as client:
        with pytest.raises(NotFoundError):
            await client.responses.retrieve("resp_nobody")
        with pytest.raises(NotFoundError):
            await client.responses.create(model="gpt", input="hi")
        with pytest.raises(BadRequestError) as error:
            await client.responses.create(
                model="hello", input="hi", previous_response_id="resp_nobody"
            )
    assert error.value.param == "previous_response_id"
