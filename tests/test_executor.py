import asyncio
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import pytest
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import TaskState
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.workflow import START, FunctionNode, RetryConfig, Workflow
from google.genai import types
from starlette.applications import Starlette

from aion_adk import (
    ADKAgentExecutor,
    BridgeError,
    TaskFailed,
    TaskRejected,
    build_agent_card,
    emit_data,
    emit_message,
    inbox_of,
    reply,
    reply_stream,
)
from aion_adk.errors import find_cause
from aion_adk.store import DurableTaskStore
from aion_adk.values import to_plain
from tests.agents import Behaviour, agent_of, event_of, in_parallel, in_sequence, said, wrote
from tests.models import ScriptedModel, call, text
from tests.serving import (
    HEADERS,
    deltas_of,
    history_of,
    listening,
    reply_of,
    send,
    serving,
    spoken_in,
    stored,
    stream,
)

SECRET = "hunter2"
FIXED = "The request could not be completed. Error id: "


def raising(error: BaseException) -> Behaviour:
    async def fail(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, ctx, "so far", partial=True)
        raise error

    return fail


def tool_raising(error: Exception) -> BaseAgent:
    def fail() -> str:
        """Fails."""
        raise error

    model = ScriptedModel(steps=[[call("fail", call_id="1")]])
    return LlmAgent(name="llm", model=model, tools=[fail])


def callback_raising(error: Exception) -> BaseAgent:
    def fail(**_: Any) -> None:
        raise error

    model = ScriptedModel(steps=[[]])
    return LlmAgent.model_validate({"name": "llm", "model": model, "before_model_callback": fail})


def node_raising(error: Exception) -> Workflow:
    def fail() -> None:
        raise error

    return Workflow(name="flow", edges=[(START, fail)])


class Failing(BasePlugin):
    def __init__(self, error: Exception) -> None:
        super().__init__(name="failing")
        self._error = error

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        raise self._error


async def speaking(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    yield said(agent, ctx, f"{inbox_of(ctx).message.parts[0].text}!")


def plugin_raising(error: Exception) -> App:
    return App(name="app", root_agent=agent_of(speaking), plugins=[Failing(error)])


PLACES: list[Callable[[Exception], Any]] = [
    lambda error: agent_of(raising(error)),
    lambda error: in_sequence(agent_of(speaking, name="one"), agent_of(raising(error), name="two")),
    lambda error: in_parallel(agent_of(speaking, name="one"), agent_of(raising(error), name="two")),
    tool_raising,
    callback_raising,
    node_raising,
    plugin_raising,
]


class SecretError(Exception):
    """Its name is nobody's business either."""


@pytest.mark.parametrize("place", PLACES)
async def test_an_unexpected_failure_tells_the_caller_nothing_but_an_id(
    place: Callable[[Exception], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """F4: agent, sequence, parallel branch, tool, callback, node, plugin."""
    with caplog.at_level(logging.ERROR, logger="aion_adk"):
        async with serving(place(SecretError(f"password {SECRET} in /etc/passwd"))) as url:
            frames = await stream(url, "hi")
            task = await stored(url, frames[0].task.id)
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert [state for state, _ in spoken_in(frames)] == ["FAILED"]
    assert reply_of(task).startswith(FIXED)
    for leaked in (SECRET, "SecretError", "passwd", "Traceback"):
        assert leaked not in str(frames)
        assert leaked not in str(task)
    error_id = reply_of(task).removeprefix(FIXED)
    [record] = [r for r in caplog.records if error_id in r.getMessage()]
    assert record.exc_info
    assert SECRET in caplog.text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("kind", "state"),
    [(TaskFailed, TaskState.TASK_STATE_FAILED), (TaskRejected, TaskState.TASK_STATE_REJECTED)],
)
async def test_what_an_agent_raises_on_purpose_says_what_it_says(
    place: Callable[[Exception], Any], kind: type[BridgeError], state: TaskState
) -> None:
    """F4"""
    async with serving(place(kind("No seats left."))) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (state, "No seats left.")


class Unstoppable(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Unstoppable(), asyncio.CancelledError()],
)
async def test_no_way_of_raising_takes_the_server_down(error: BaseException) -> None:
    """F4, E1: each stream ends in one status and the next request is served."""

    async def failing_once(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if len(ctx.session.events) == 1:
            raise error
        yield said(agent, ctx, "still here")

    async with serving(agent_of(failing_once)) as url:
        frames = await stream(url, "hi", context_id="c1")
        task = await send(url, "hi", context_id="c1")
    [(state, text)] = spoken_in(frames)
    assert state == "FAILED"
    assert text.startswith(FIXED)
    assert reply_of(task) == "still here"


async def test_sys_exit_in_a_sub_agent_fails_its_task_alone() -> None:
    """F4"""

    async def leaving(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, ctx, "bye", partial=True)
        sys.exit(1)

    tree = in_sequence(agent_of(speaking, name="one"), agent_of(leaving, name="two"))
    async with serving(tree) as url:
        tasks = [await send(url, "hi") for _ in range(2)]
    assert [task.status.state for task in tasks] == [TaskState.TASK_STATE_FAILED] * 2


async def leave() -> str:
    """Leaves."""
    sys.exit(1)


def leave_in_a_thread() -> str:
    """Leaves."""
    sys.exit(1)


@pytest.mark.parametrize("tool", [leave, leave_in_a_thread])
async def test_sys_exit_in_a_tool_fails_its_task_alone(tool: Callable[[], Any]) -> None:
    """F4: ADK runs each tool in a task of its own, where asyncio would stop the loop."""
    model = ScriptedModel(steps=[[call(tool.__name__, call_id="c1")], [text("still here")]])
    async with serving(LlmAgent(name="agent", model=model, tools=[tool])) as url:
        frames = await stream(url, "hi")
        task = await send(url, "hi")
    [(state, words)] = spoken_in(frames)
    assert (state, words.startswith(FIXED)) == ("FAILED", True)
    assert reply_of(task) == "still here"


async def test_a_task_that_an_agent_cancels_before_it_starts_warns_of_nothing(
    recwarn: pytest.WarningsRecorder,
) -> None:
    async def hasty(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        unneeded = asyncio.create_task(asyncio.sleep(60))
        unneeded.cancel()
        await asyncio.wait({unneeded})
        yield said(agent, ctx, "done")

    async with serving(agent_of(hasty)) as url:
        assert reply_of(await send(url, "hi")) == "done"
    gc.collect()
    assert not [each for each in recwarn if "never awaited" in str(each.message)]


async def test_an_event_with_an_error_code_fails_the_task() -> None:
    """F4"""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, ctx, "so far", partial=True)
        yield event_of(agent, ctx, error_code="SAFETY", error_message=SECRET)
        yield said(agent, ctx, "as if nothing had happened")

    async with serving(agent_of(failing)) as url:
        frames = await stream(url, "hi")
    [(state, text)] = spoken_in(frames)
    assert (state, text.startswith(FIXED)) == ("FAILED", True)
    assert SECRET not in str(frames)
    assert "SAFETY" not in str(frames)


async def test_an_error_event_of_a_workflows_agent_fails_the_task() -> None:
    """F4"""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield event_of(agent, ctx, error_code="SAFETY", error_message=SECRET)

    def after() -> str:
        return "as if nothing had happened"

    async with serving(Workflow(name="flow", edges=[(START, agent_of(failing), after)])) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task).startswith(FIXED)) == (4, True)


class Refusing(BaseLlm):
    """A model whose answers are errors, `times` times."""

    model: str = "refusing"
    times: int = 1

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.times -= 1
        if self.times >= 0:
            yield LlmResponse(error_code="SAFETY", error_message=SECRET)
        else:
            yield LlmResponse(content=types.Content(parts=[types.Part(text="fine")]))


async def test_a_model_that_answers_with_an_error_fails_the_task() -> None:
    """F4"""
    async with serving(LlmAgent(name="llm", model=Refusing())) as url:
        frames = await stream(url, "hi")
        task = await send(url, "hi")
    assert [state for state, _ in spoken_in(frames)] == ["FAILED"]
    assert SECRET not in str(frames)
    assert reply_of(task) == "fine"


@pytest.mark.parametrize("result", ["third time lucky", None])
async def test_a_node_that_is_tried_again_and_succeeds_does_not_fail_the_task(
    result: str | None,
) -> None:
    """F4: ADK announces each failed attempt with an error event."""
    attempts: list[int] = []

    def flaky() -> str | None:
        attempts.append(1)
        if len(attempts) < 3:
            raise ConnectionError(SECRET)
        return result

    node = FunctionNode(func=flaky, retry_config=RetryConfig(max_attempts=3, initial_delay=0.001))
    async with serving(Workflow(name="flow", edges=[(START, node)])) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (3, result or "")
    assert SECRET not in str(task)


async def test_a_caught_task_failed_is_not_what_the_caller_hears() -> None:
    """F4: only what the agent raised in the end counts."""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            raise TaskFailed("meant for nobody")
        except TaskFailed:
            yield said(agent, ctx, "going on", partial=True)
            raise ValueError(SECRET)  # noqa: B904 # the point

    async with serving(agent_of(failing)) as url:
        assert reply_of(await send(url, "hi")).startswith(FIXED)


def test_a_cause_is_found_in_groups_and_chains() -> None:
    """F4"""
    wanted = TaskFailed("here")
    wrapped = RuntimeError("outer")
    wrapped.__cause__ = ExceptionGroup("many", [ValueError(), wanted])
    assert find_cause(wrapped, TaskFailed) is wanted
    assert find_cause(ValueError(), TaskFailed) is None


async def test_a_run_that_takes_too_long_fails_and_the_agent_is_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """F5"""
    seen: list[str] = []

    async def endless(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, ctx, "so far", partial=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with caplog.at_level(logging.ERROR, logger="aion_adk"):
        async with serving(agent_of(endless), run_timeout=0.05) as url:
            frames = await stream(url, "hi")
    assert seen == ["cancelled"]
    [(state, text)] = spoken_in(frames)
    assert (state, text.startswith("The request took too long. Error id: ")) == ("FAILED", True)
    assert text.rsplit(" ", 1)[1] in caplog.text
    assert deltas_of(frames) == ["so far"]


async def test_an_agent_that_will_not_stop_is_not_heard_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F5, E1"""
    monkeypatch.setattr("aion_adk.agent_run.SECONDS_TO_STOP", 0.05)
    stopped, may_speak = asyncio.Event(), asyncio.Event()

    async def stubborn(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        while not may_speak.is_set():
            try:
                await may_speak.wait()
            except asyncio.CancelledError:
                continue
        emit_message(ctx, "too late")
        try:
            yield said(agent, ctx, "too late", partial=True)
        finally:
            stopped.set()

    async with serving(agent_of(stubborn), run_timeout=0.05) as url:
        task = await send(url, "hi")
        may_speak.set()
        await asyncio.wait_for(stopped.wait(), 10)
        after = await stored(url, task.id)
    assert (task.status.state, after) == (TaskState.TASK_STATE_FAILED, task)


@pytest.mark.parametrize("path", ["/", "/message:send"])
async def test_a_failure_before_there_is_a_task_tells_nothing_either(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """F4: JSON-RPC and REST."""

    def resolve(_: Any) -> str:
        raise SecretError(SECRET)

    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    body: dict[str, Any] = {"message": message}
    if path == "/":
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": body}
    async with (
        serving(agent_of(speaking), user_id=resolve) as url,
        httpx.AsyncClient(verify=False) as http,
    ):
        answer = await http.post(url + path, json=body, headers=HEADERS)
    assert "Error id: " in answer.text
    assert SECRET not in answer.text
    assert "SecretError" not in answer.text
    error_id = answer.text.split("Error id: ")[1][:36]
    assert error_id in caplog.text


def foreign(agent: BaseAgent, **options: Any) -> Callable[[str], Starlette]:
    """An app that a user wired by hand around the executor, with a2a-sdk's own handler."""

    def build(url: str) -> Starlette:
        runner = InMemoryRunner(agent=agent, app_name=agent.name)
        executor = ADKAgentExecutor(runner, **options)
        card = build_agent_card(agent, url=url)
        store = DurableTaskStore(InMemoryTaskStore())
        handler = DefaultRequestHandler(executor, store, card)
        return Starlette(
            routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
        )

    return build


async def test_the_executor_works_in_a_handler_wired_by_hand() -> None:
    """A1, C5, E1, E3"""

    async def busy(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert inbox_of(ctx).message.parts[0].text == "hi"
        yield said(agent, ctx, "strea", partial=True)
        yield said(agent, ctx, "ming", partial=True)
        yield said(agent, ctx, "streaming")
        yield said(agent, ctx, "again", partial=True)
        emit_message(ctx, "halfway")
        emit_data(ctx, {"row": 1}, name="rows", append=True)
        emit_data(ctx, {"row": 2}, name="rows", append=True)
        reply(ctx, "one")
        await reply_stream(ctx, ["t", "wo"])
        yield wrote(agent, ctx, {"metadata": {"k": 1}})

    async with listening(foreign(agent_of(busy))) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
        blocking = await send(url, "hi")
    assert deltas_of(frames) == ["strea", "ming", "again", "t", "wo"]
    assert spoken_in(frames) == [("WORKING", "halfway"), ("WORKING", "one"), ("COMPLETED", "two")]
    for seen in (task, blocking):
        assert history_of(seen) == ["hi", "halfway", "one"]
        assert reply_of(seen) == "two"
        [artifact] = seen.artifacts
        assert [to_plain(part.data) for part in artifact.parts] == [{"row": 1}, {"row": 2}]


@pytest.mark.parametrize("error", [SecretError(SECRET), SystemExit(1)])
async def test_a_failure_in_a_handler_wired_by_hand_tells_nothing(error: BaseException) -> None:
    """F4"""
    async with listening(foreign(agent_of(raising(error)))) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert [state for state, _ in spoken_in(frames)] == ["FAILED"]
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert SECRET not in str(frames)


async def test_a_follow_up_goes_on_in_a_handler_wired_by_hand() -> None:
    """A1, D2"""

    async def asking(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        history = inbox_of(ctx).task.history
        if len(history) == 1:
            question = {"parts": [{"text": "which?"}]}
            status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": question}
            yield wrote(agent, ctx, {"status": status})
        else:
            yield said(agent, ctx, f"{inbox_of(ctx).message.parts[0].text} it is")

    async with listening(foreign(agent_of(asking))) as url:
        first = await send(url, "hi")
        assert reply_of(first) == "which?"
        task = await send(url, "that", task_id=first.id, context_id=first.context_id)
    assert (task.id, task.status.state) == (first.id, TaskState.TASK_STATE_COMPLETED)
    assert history_of(task) == ["hi", "which?", "that"]
    assert reply_of(task) == "that it is"
