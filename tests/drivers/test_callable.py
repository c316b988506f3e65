import asyncio
import contextlib
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any

import pytest
from a2a.types import Message, Part, Role, TaskState
from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from aion_adk import emit_message, inbox_of
from aion_adk.drivers import CallableAgent
from aion_adk.drivers.callable import AnswerFunction
from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import to_plain
from tests.models import ScriptedModel, call
from tests.models import text as model_text
from tests.serving import reply_of, send, serving, stream, text_of


async def answer_of(func: AnswerFunction, text: str = "hi") -> Message:
    async with serving(CallableAgent("agent", func)) as url:
        return (await send(url, text)).status.message


async def test_an_async_function_is_called_with_the_text() -> None:
    async def shout(text: str) -> str:
        return text.upper()

    assert text_of(await answer_of(shout)) == "HI"


async def test_sync_code_runs_off_the_event_loop() -> None:
    here = threading.get_ident()

    def where(text: str) -> str:
        return "here" if threading.get_ident() == here else "elsewhere"

    assert text_of(await answer_of(where)) == "elsewhere"


async def test_a_second_parameter_is_the_adk_context() -> None:
    def who(text: str, ctx: InvocationContext) -> str:
        return f"{ctx.session.id} {inbox_of(ctx).message.message_id}"

    async with serving(CallableAgent("agent", who)) as url:
        task = await send(url, "hi", context_id="c1", message_id="m1")
    assert reply_of(task) == "c1 m1"


async def test_a_second_parameter_with_a_default_is_left_alone() -> None:
    def repeat(text: str, times: int = 2) -> str:
        return text * times

    assert text_of(await answer_of(repeat)) == "hihi"


async def test_partials_and_callable_objects_are_functions_too() -> None:
    class Greeter:
        async def __call__(self, text: str) -> str:
            return f"hello {text}"

    def join(prefix: str, text: str) -> str:
        return prefix + text

    assert text_of(await answer_of(Greeter())) == "hello hi"
    assert text_of(await answer_of(functools.partial(join, "> "))) == "> hi"


async def test_a_dict_becomes_a_data_part() -> None:
    message = await answer_of(lambda text: {"text": text, "times": 1})
    assert [to_plain(part.data) for part in message.parts] == [{"text": "hi", "times": 1}]


async def test_parts_of_both_kinds_are_kept_in_order() -> None:
    def parts(text: str) -> list[Any]:
        blob = types.Blob(data=b"x", mime_type="image/png")
        return ["see", types.Part(inline_data=blob), data_part({"n": 1}), Part(text="end")]

    message = await answer_of(parts)
    assert [part.WhichOneof("content") for part in message.parts] == ["text", "raw", "data", "text"]


async def test_a_message_is_the_reply_as_it_is() -> None:
    reply = Message(message_id="mine", role=Role.ROLE_AGENT, parts=[Part(text="done")])
    reply.metadata["mood"] = "good"
    message = await answer_of(lambda text: reply)
    assert (message.message_id, text_of(message), message.metadata["mood"]) == (
        "mine",
        "done",
        "good",
    )


async def test_none_completes_without_a_message() -> None:
    async with serving(CallableAgent("agent", lambda text: None)) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert not task.status.HasField("message")


async def test_a_data_only_message_reaches_the_function_as_json() -> None:
    async with serving(CallableAgent("agent", lambda text: text)) as url:
        task = await send(url, [data_part({"a": 1})])
        both = await send(url, [Part(text="sum"), Part(text="this"), data_part({"a": 1})])
    assert reply_of(task) == '{"a": 1}'
    assert reply_of(both) == "sum\nthis"


async def test_anything_else_fails_the_task(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(CallableAgent("agent", lambda text: 7)) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert "got int" in caplog.text


async def test_what_a_generator_emits_stays_between_its_chunks() -> None:
    async def pieces(text: str, ctx: InvocationContext) -> AsyncIterator[str]:
        yield "one"
        emit_message(ctx, "note")
        await asyncio.sleep(0)
        yield "two"

    async with serving(CallableAgent("agent", pieces)) as url:
        frames = await stream(url, "hi")
    texts: list[str] = []
    for frame in frames:
        texts += [part.text for part in frame.artifact_update.artifact.parts]
        texts += [part.text for part in frame.status_update.status.message.parts]
    assert texts == ["one", "note", "two", "onetwo"]


async def test_a_driver_used_as_a_tool_is_asked_what_the_model_asks_it() -> None:
    """B1: the inbox is the caller's, the text is the model's."""

    def shout(text: str, ctx: InvocationContext) -> str:
        return f"{text.upper()} for {inbox_of(ctx).message.parts[0].text}"

    model = ScriptedModel(
        steps=[[call("shout", call_id="c1", request="louder")], [model_text("done")]]
    )
    tool = AgentTool(CallableAgent("shout", shout, description="Shouts."))
    async with serving(LlmAgent(name="lead", model=model, tools=[tool])) as url:
        assert reply_of(await send(url, "ada")) == "done"
    assert "LOUDER for ada" in str(model.requests[-1].contents)


@pytest.mark.parametrize(
    "kind", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, BaseException]
)
async def test_a_function_that_would_end_the_process_fails_only_its_own_task(
    kind: type[BaseException],
) -> None:
    def leave(text: str) -> str:
        raise kind

    async def leave_async(text: str) -> str:
        raise kind

    def leave_after_a_chunk(text: str) -> Iterator[str]:
        yield "A"
        raise kind

    functions = {"leave": leave, "leave_async": leave_async, "after": leave_after_a_chunk}

    def agent(text: str) -> str | Iterator[str] | Awaitable[str]:
        return functions[text](text) if text in functions else "alive"

    async with asyncio.timeout(20), serving(CallableAgent("agent", agent)) as url:
        for name in functions:
            task = await send(url, name)
            status = (await stream(url, name))[-1].status_update.status
            for end in (task.status, status):
                assert end.state == TaskState.TASK_STATE_FAILED
                assert text_of(end.message).startswith("The request could not be completed. Error")
        assert reply_of(await send(url, "hi")) == "alive"


async def test_a_function_that_lets_a_stop_iteration_out_fails_its_task() -> None:
    def first_of_nothing(text: str) -> str:
        return next(iter([]))

    async with asyncio.timeout(10), serving(CallableAgent("agent", first_of_nothing)) as url:
        task = await send(url, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED


async def test_a_generator_that_goes_on_after_its_deadline_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    closed = asyncio.Event()

    async def stubborn(text: str) -> AsyncIterator[str]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            while True:
                yield "late"
        finally:
            closed.set()

    async with serving(CallableAgent("agent", stubborn, timeout=0.2)) as url:
        frames = await stream(url, "hi")
        await asyncio.wait_for(closed.wait(), 10)
    end = frames[-1].status_update.status.message
    assert text_of(end) == "The agent did not finish within 0.2 seconds."
    assert "does not stop" not in caplog.text
