import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import httpx
import pytest
from a2a.types import TaskState
from a2a.utils.errors import InternalError
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.workflow import START, FunctionNode, RetryConfig, Workflow
from google.genai import types

from aion_adk import BridgeError, TaskFailed, TaskRejected, emit_message
from aion_adk.errors import find_cause
from tests.acts import asks_back
from tests.agents import agent_of, event_of, in_parallel, in_sequence, text_event
from tests.execution.failing import FIXED, SECRET, SecretError, echoing, raising
from tests.handling import ask, executor_of, handler_of, look_up, state_of
from tests.models import ScriptedModel, call
from tests.serving import (
    HEADERS,
    deltas_of,
    reply_of,
    send,
    serving,
    status_texts,
    stored,
    stream,
    tasks_of,
)


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


def plugin_raising(error: Exception) -> App:
    return App(name="app", root_agent=agent_of(echoing), plugins=[Failing(error)])


PLACES: list[Callable[[Exception], Any]] = [
    lambda error: agent_of(raising(error)),
    lambda error: in_sequence(agent_of(echoing, name="one"), agent_of(raising(error), name="two")),
    lambda error: in_parallel(agent_of(echoing, name="one"), agent_of(raising(error), name="two")),
    tool_raising,
    callback_raising,
    node_raising,
    plugin_raising,
]


@pytest.mark.parametrize("place", PLACES)
async def test_an_unexpected_failure_shows_the_caller_only_an_error_id(
    place: Callable[[Exception], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """F4: agent, sequence, parallel branch, tool, callback, node, plugin."""
    with caplog.at_level(logging.ERROR, logger="aion_adk"):
        async with serving(place(SecretError(f"password {SECRET} in /etc/passwd"))) as url:
            frames = await stream(url, "hi")
            task = await stored(url, frames[0].task.id)
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert [state for state, _ in status_texts(frames)] == ["FAILED"]
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
async def test_what_an_agent_raises_on_purpose_is_the_state_and_the_reply(
    place: Callable[[Exception], Any], kind: type[BridgeError], state: TaskState
) -> None:
    """F4"""
    async with serving(place(kind("No seats left."))) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (state, "No seats left.")


async def test_an_event_with_an_error_code_fails_the_task() -> None:
    """F4"""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(agent, ctx, "so far", partial=True)
        yield event_of(agent, ctx, error_code="SAFETY", error_message=SECRET)
        yield text_event(agent, ctx, "as if nothing had happened")

    async with serving(agent_of(failing)) as url:
        frames = await stream(url, "hi")
    [(state, text)] = status_texts(frames)
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
    assert [state for state, _ in status_texts(frames)] == ["FAILED"]
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


async def test_a_task_failed_that_was_caught_is_not_shown_to_the_caller() -> None:
    """F4: only what the agent raised in the end counts."""

    async def failing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            raise TaskFailed("meant for nobody")
        except TaskFailed:
            yield text_event(agent, ctx, "going on", partial=True)
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
        yield text_event(agent, ctx, "so far", partial=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with caplog.at_level(logging.ERROR, logger="aion_adk"):
        async with serving(agent_of(endless), run_timeout=0.05) as url:
            frames = await stream(url, "hi")
    assert seen == ["cancelled"]
    [(state, text)] = status_texts(frames)
    assert (state, text.startswith("The request took too long. Error id: ")) == ("FAILED", True)
    [logged] = [record.getMessage() for record in caplog.records]
    assert text.rsplit(" ", 1)[1] in logged
    assert logged.count("took longer") == 1
    assert deltas_of(frames) == ["so far"]


async def test_what_an_agent_sends_after_its_run_has_ended_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F5, E1"""
    monkeypatch.setattr("aion_adk.timeouts.SECONDS_TO_END_AGENT", 0.05)
    stopped, may_go_on = asyncio.Event(), asyncio.Event()

    async def stubborn(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        while not may_go_on.is_set():
            try:
                await may_go_on.wait()
            except asyncio.CancelledError:
                continue
        emit_message(ctx, "too late")
        try:
            yield text_event(agent, ctx, "too late", partial=True)
        finally:
            stopped.set()

    async with serving(agent_of(stubborn), run_timeout=0.05) as url:
        task = await send(url, "hi")
        may_go_on.set()
        await asyncio.wait_for(stopped.wait(), 10)
        after = await stored(url, task.id)
    assert (task.status.state, after) == (TaskState.TASK_STATE_FAILED, task)


@pytest.mark.parametrize("path", ["/", "/message:send"])
async def test_a_user_id_function_that_raises_shows_only_an_error_id(
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
        serving(agent_of(echoing), user_id=resolve) as url,
        httpx.AsyncClient(verify=False) as http,
    ):
        answer = await http.post(url + path, json=body, headers=HEADERS)
        tasks = await tasks_of(url)
    assert tasks == []
    assert "Internal error. Error id: " in answer.text
    assert SECRET not in answer.text
    assert "SecretError" not in answer.text
    error_id = answer.text.split("Error id: ")[1][:36]
    assert error_id in caplog.text


async def test_a_paused_task_waits_on_where_a_user_id_function_raises() -> None:
    """F4: the same message can be sent again."""
    names: Iterator[str | Exception] = iter(["ann", SecretError(SECRET), "ann"])

    def resolve(_: Any) -> str:
        name = next(names)
        if isinstance(name, Exception):
            raise name
        return name

    handler = handler_of(executor_of(asks_back, user_id=resolve))
    asked = await ask(handler, "hi")
    with pytest.raises(InternalError, match=r"^Internal error\. Error id: "):
        await ask(handler, "done", task_id=asked.id, message_id="again")
    assert state_of(await look_up(handler, asked.id)) == "INPUT_REQUIRED"
    answered = await ask(handler, "done", task_id=asked.id, message_id="again")
    assert (state_of(answered), reply_of(answered)) == ("COMPLETED", "thanks")
