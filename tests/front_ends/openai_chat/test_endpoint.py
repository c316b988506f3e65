import json

import pytest
from a2a.types import GetTaskRequest, TaskState
from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool
from google.genai import types
from openai import APIError, BadRequestError, InternalServerError, NotFoundError
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam

from aion_adk.protocol.json_codec import json_frame
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
from tests.models import ScriptedModel, call, text
from tests.serving import client_of, send, serving, stored

TOOLS: list[ChatCompletionToolUnionParam] = [
    {
        "type": "function",
        "function": {
            "name": "get_location",
            "description": "Where the user is.",
            "parameters": LOCATION_SCHEMA,
            "strict": True,
        },
    }
]


def get_location(precise: bool = False) -> None:
    """Where the user is."""


def user_messages(text: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": text}]


async def test_the_agent_is_the_only_model() -> None:
    async with serving(Hello(name="hello"), openai=True) as url, openai_client(url) as client:
        models = [model async for model in client.models.list()]
        assert [model.id for model in models] == ["hello"]
        assert (await client.models.retrieve("hello")).owned_by == "aion-adk"
        with pytest.raises(NotFoundError) as error:
            await client.chat.completions.create(model="gpt-4", messages=user_messages("hi"))
    assert error.value.code == "model_not_found"


async def test_a_whole_completion_is_a_task_that_an_a2a_client_can_get() -> None:
    async with serving(weather_agent(), openai=True) as url, openai_client(url) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model="weather", messages=user_messages("weather?")
        )
        completion = raw.parse()
        async with client_of(url) as a2a:
            task = await a2a.get_task(GetTaskRequest(id=raw.headers["x-a2a-task-id"]))
    choice = completion.choices[0]
    assert choice.message.content == "Looking.\n\nClear skies over Oakland."
    assert (choice.finish_reason, choice.message.tool_calls) == ("stop", None)
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (20, 10)
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert task.status.message.parts[0].text == "Clear skies over Oakland."


async def test_a_streamed_completion_has_the_same_text_and_usage_if_requested() -> None:
    async with serving(weather_agent(), openai=True) as url, openai_client(url) as client:
        stream = await client.chat.completions.create(
            model="weather",
            messages=user_messages("weather?"),
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(deltas) == "Looking.\n\nClear skies over Oakland."
    assert len(deltas) > 4
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 30


async def test_an_answer_that_the_model_could_not_finish_is_sent_as_cut() -> None:
    model = ScriptedModel(steps=[[text("Once upon")]], finish_reason=types.FinishReason.MAX_TOKENS)
    agent = LlmAgent(name="teller", model=model)
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        completion = await client.chat.completions.create(
            model="teller", messages=user_messages("go")
        )
        response = await client.responses.create(model="teller", input="go")
        events = await client.responses.create(model="teller", input="go", stream=True)
        kinds = [event.type async for event in events]
    assert completion.choices[0].finish_reason == "length"
    assert completion.choices[0].message.content == response.output_text == "Once upon"
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    assert kinds[-1] == "response.incomplete"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_clients_tool_is_called_by_the_client_and_the_same_task_goes_on(
    stream: bool,
) -> None:
    agent = locating_agent()
    messages = user_messages("where am I?")
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        if stream:
            async with client.chat.completions.stream(
                model="locating", messages=messages, tools=TOOLS
            ) as events:
                first = await events.get_final_completion()
        else:
            first = await client.chat.completions.create(
                model="locating", messages=messages, tools=TOOLS
            )
        answer = first.choices[0].message
        assert first.choices[0].finish_reason == "tool_calls"
        assert answer.content == "One moment."
        assert answer.tool_calls is not None
        [call] = answer.tool_calls
        assert call.type == "function"
        assert (call.id, call.function.name) == ("call_7", "get_location")
        assert call.function.arguments == '{"precise": true}'
        messages.append(answer.model_dump(exclude_none=True))  # pyright: ignore[reportArgumentType]  # the client's own message
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "Oakland"})
        second = await client.chat.completions.create(
            model="locating", messages=messages, tools=TOOLS
        )
    assert second.choices[0].message.content == "You are in Oakland."
    model = agent.model
    assert isinstance(model, ScriptedModel)
    result = (model.requests[-1].contents[-1].parts or [])[0].function_response
    assert result is not None
    assert (result.id, result.response) == ("call_7", {"result": "Oakland"})


async def test_a_person_approves_in_words_in_a_conversation_that_the_header_names() -> None:
    async with serving(approving_agent(), openai=True) as url, openai_client(url) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model="approving", messages=user_messages("send 5")
        )
        paused = raw.parse().choices[0]
        assert paused.finish_reason == "tool_calls"
        assert "Approve wire_money(amount=5)?" in (paused.message.content or "")
        done = await client.chat.completions.create(
            model="approving",
            messages=user_messages("yes"),
            extra_headers={"X-A2A-Context-Id": raw.headers["x-a2a-context-id"]},
        )
    assert done.choices[0].message.content == "Done."


async def test_the_earlier_conversation_is_sent_to_an_agent_that_does_not_know_it() -> None:
    agent = locating_agent()
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "I am Ann."},
        {"role": "assistant", "content": "Hello Ann."},
        {"role": "user", "content": "Who am I?"},
    ]
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        await client.chat.completions.create(model="locating", messages=messages)
    model = agent.model
    assert isinstance(model, ScriptedModel)
    request = model.requests[0]
    contents = [(item.role, (item.parts or [])[0].text) for item in request.contents]
    assert contents == [("user", "I am Ann."), ("model", "Hello Ann."), ("user", "Who am I?")]
    assert "Be brief." in request.config.model_dump_json(include={"system_instruction"})


async def test_files_go_both_ways() -> None:
    image = {"url": "data:image/png;base64,cG5n"}
    messages: list[ChatCompletionMessageParam] = [
        {"role": "user", "content": [{"type": "image_url", "image_url": image}]}  # pyright: ignore[reportAssignmentType]  # a plain dict
    ]
    async with (
        serving(Reporting(name="reporting"), openai=True) as url,
        openai_client(url) as client,
    ):
        completion = await client.chat.completions.create(model="reporting", messages=messages)
    content = completion.choices[0].message.content or ""
    assert "Got image/png b'png'." in content
    assert "[report](https://example.com/r.pdf)" in content


async def test_a_failed_turn_is_an_error_and_nothing_leaks() -> None:
    async with serving(Failing(name="failing"), openai=True) as url, openai_client(url) as client:
        with pytest.raises(InternalServerError, match="The oven is cold"):
            await client.chat.completions.create(model="failing", messages=user_messages("go"))
        stream = await client.chat.completions.create(
            model="failing", messages=user_messages("go"), stream=True
        )
        with pytest.raises(APIError, match="The oven is cold"):
            _ = [chunk async for chunk in stream]
    async with serving(Breaking(name="breaking"), openai=True) as url, openai_client(url) as client:
        with pytest.raises(InternalServerError) as error:
            await client.chat.completions.create(model="breaking", messages=user_messages("go"))
    assert "hunter2" not in str(error.value)
    assert "Error id" in str(error.value)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": [{"role": "user", "content": "hi"}]}, "model"),
        ({"model": "hello", "messages": []}, "messages"),
        ({"model": "hello", "messages": [{"role": "assistant", "content": "hi"}]}, "messages"),
        (
            {"model": "hello", "messages": [{"role": "user", "content": [{"type": "smell"}]}]},
            "messages",
        ),
        ({"model": "hello", "messages": [{"role": "tool", "content": "1"}]}, "messages"),
    ],
)
async def test_a_request_that_cannot_be_read_is_refused_with_its_field(
    body: object, param: str
) -> None:
    async with serving(Hello(name="hello"), openai=True) as url, openai_client(url) as client:
        with pytest.raises(BadRequestError) as error:
            await client.post("/chat/completions", body=body, cast_to=object)
    assert (error.value.type, error.value.param) == ("invalid_request_error", param)


async def test_a_result_for_which_two_tasks_wait_goes_to_the_one_that_the_header_names() -> None:
    result: list[ChatCompletionMessageParam] = [
        {"role": "tool", "tool_call_id": "0", "content": "Oakland"}
    ]
    steps = [*[[call("get_location", call_id="0")]] * 2, [text("You are in Oakland.")]]
    agent = LlmAgent(name="locating", model=ScriptedModel(steps=steps))
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        create = client.chat.completions.with_raw_response.create
        pending = [
            await create(model="locating", messages=user_messages("where am I?"), tools=TOOLS)
            for _ in range(2)
        ]
        with pytest.raises(BadRequestError, match="X-A2A-Context-Id"):
            await create(model="locating", messages=result, tools=TOOLS)
        sticky = {"X-A2A-Context-Id": pending[0].headers["X-A2A-Context-Id"]}
        answer = await create(model="locating", messages=result, tools=TOOLS, extra_headers=sticky)
    assert answer.headers["X-A2A-Task-Id"] == pending[0].headers["X-A2A-Task-Id"]


async def test_of_two_tasks_that_wait_in_one_context_the_one_with_the_call_is_answered() -> None:
    result: list[ChatCompletionMessageParam] = [
        {"role": "tool", "tool_call_id": "call_0", "content": "Oakland"}
    ]
    calls = [[call("get_location", call_id=f"call_{index}")] for index in range(2)]
    model = ScriptedModel(steps=[*calls, [text("You are in Oakland.")]])
    agent = LlmAgent(name="locating", model=model, tools=[LongRunningFunctionTool(get_location)])
    async with serving(agent, openai=True) as url, openai_client(url) as client:
        first, second = [await send(url, "where am I?", context_id="c") for _ in range(2)]
        answer = await client.chat.completions.with_raw_response.create(
            model="locating", messages=result, extra_headers={"X-A2A-Context-Id": "c"}
        )
        other = await stored(url, second.id)
    assert answer.headers["X-A2A-Task-Id"] == first.id
    assert answer.parse().choices[0].message.content == "You are in Oakland."
    assert other.status.state == TaskState.TASK_STATE_INPUT_REQUIRED


async def test_a_result_that_no_task_waits_for_is_refused() -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "tool", "tool_call_id": "call_0", "content": "1"}
    ]
    async with serving(Hello(name="hello"), openai=True) as url, openai_client(url) as client:
        with pytest.raises(BadRequestError, match="No task waits for the result of call_0"):
            await client.chat.completions.create(model="hello", messages=messages)


@pytest.mark.parametrize("context_id", ["日本", "a\r\nX-Evil: 1"])
async def test_a_context_that_no_header_can_hold_is_left_out_of_them(context_id: str) -> None:
    async with serving(Hello(name="hello"), openai=True) as url, openai_client(url) as client:
        answer = await client.chat.completions.with_raw_response.create(
            model="hello", messages=user_messages("hi"), metadata={"context_id": context_id}
        )
    assert answer.parse().choices[0].message.content == "Hello."
    assert "X-A2A-Task-Id" in answer.headers
    assert {"X-A2A-Context-Id", "X-Evil"}.isdisjoint(answer.headers)


def test_a_frame_is_one_line_for_every_reader() -> None:
    data = {"delta": "a\u2028b\u2029c\x85dé"}
    [line] = json_frame(data).splitlines()[:-1]
    assert json.loads(line.removeprefix("data: ")) == data
