import logging
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from a2a.types import Message, Part, Task, TaskState, TaskStatus
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.context import Context
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext
from google.adk.workflow import START, Workflow
from pydantic import ValidationError

from aion_adk import A2AOutbox
from tests.agents import agent_of, outbox_event, text_event
from tests.models import ScriptedModel, call, text
from tests.serving import reply_of, send, serving


def message_of(value: str, **fields: Any) -> Message:
    return Message(parts=[Part(text=value)], **fields)


def writing(*outboxes: Any) -> BaseAgent:
    async def write(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for outbox in outboxes:
            yield outbox_event(agent, ctx, outbox)

    return agent_of(write)


def test_an_outbox_holds_exactly_one_of_message_and_task() -> None:
    """C2"""
    with pytest.raises(ValidationError, match="exactly one"):
        A2AOutbox()
    with pytest.raises(ValidationError, match="exactly one"):
        A2AOutbox(message=Message(), task=Task())
    with pytest.raises(ValidationError, match="direct goes with a message"):
        A2AOutbox(task=Task(), direct=True)


def test_an_outbox_serialises_itself_and_reads_itself_back() -> None:
    """C2"""
    for outbox in (
        A2AOutbox(message=message_of("hello", message_id="m1"), direct=True),
        A2AOutbox(task=Task(status=TaskStatus(message=message_of("hello")))),
    ):
        assert A2AOutbox.model_validate_json(outbox.model_dump_json()) == outbox


@pytest.mark.parametrize(
    "outbox",
    [
        A2AOutbox(message=message_of("hello")),
        A2AOutbox(task=Task(history=[message_of("hello")])),
        message_of("hello"),
        Task(status=TaskStatus(message=message_of("hello"))),
        {"parts": [{"text": "hello"}]},
        {"history": [{"parts": [{"text": "hello"}]}]},
        {"message": {"parts": [{"text": "hello"}]}},
        {"task": {"status": {"message": {"parts": [{"text": "hello"}]}}}},
    ],
)
async def test_every_form_of_an_outbox_is_the_reply(outbox: Any) -> None:
    """C2"""
    async with serving(writing(outbox)) as url:
        task = await send(url, "hi")
    assert (task.status.state, reply_of(task)) == (TaskState.TASK_STATE_COMPLETED, "hello")


@pytest.mark.parametrize(
    ("outbox", "reason"),
    [
        ("text", "got str"),
        (42, "got int"),
        (["text"], "got list"),
        ({"unknown": 1}, "unknown"),
        ({"message": {}, "task": {}}, "exactly one"),
        ({"message": "text"}, "Message"),
        (Task(status=TaskStatus(state=TaskState.TASK_STATE_CANCELED)), "CANCELED"),
    ],
)
async def test_anything_else_fails_the_task_with_a_clear_log_line(
    outbox: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """C2, D2, F4: the reason is in the log, not in the answer; the server goes on."""
    with caplog.at_level(logging.ERROR, logger="aion_adk"):
        async with serving(writing(outbox)) as url:
            tasks = [await send(url, "hi") for _ in range(2)]
    for task in tasks:
        assert task.status.state == TaskState.TASK_STATE_FAILED
        assert reply_of(task).startswith("The request could not be completed. Error id: ")
        error_id = reply_of(task).rsplit(" ", 1)[1]
        [line] = [r.getMessage() for r in caplog.records if error_id in r.getMessage()]
        assert "a2a_outbox" in line
        assert reason in line


async def test_the_last_outbox_of_the_turn_wins() -> None:
    """C2: partial events included, None is no outbox."""

    async def write(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield outbox_event(agent, ctx, message_of("first"))
        partial = text_event(agent, ctx, "streamed", partial=True)
        partial.actions.state_delta["a2a_outbox"] = message_of("second")
        yield partial
        yield outbox_event(agent, ctx, None)
        yield text_event(agent, ctx, "ordinary text")

    async with serving(agent_of(write)) as url:
        assert reply_of(await send(url, "hi")) == "second"


async def test_an_outbox_is_what_it_was_when_it_was_written() -> None:
    """C2, D1"""

    async def write(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        message = message_of("as written")
        yield outbox_event(agent, ctx, message)
        message.parts[0].text = "changed later"

    async with serving(agent_of(write)) as url:
        assert reply_of(await send(url, "hi")) == "as written"


def in_memory(_: Path) -> BaseSessionService:
    return InMemorySessionService()


def in_sqlite(folder: Path) -> BaseSessionService:
    return SqliteSessionService(str(folder / "sessions.db"))


def in_database(folder: Path) -> BaseSessionService:
    return DatabaseSessionService(f"sqlite+aiosqlite:///{folder / 'sessions.db'}")


@pytest.mark.parametrize("sessions", [in_memory, in_sqlite, in_database])
@pytest.mark.parametrize("outbox", [A2AOutbox(message=message_of("reply")), message_of("reply")])
async def test_the_next_turn_never_sees_an_outbox(
    sessions: Callable[[Path], BaseSessionService],
    outbox: Any,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """C2: with every session service; the rest of the state is stored as ever."""
    states: list[dict[str, Any]] = []

    async def write(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        states.append(dict(ctx.session.state))
        yield outbox_event(agent, ctx, outbox, count=len(states), nested={"kept": True})

    agent, service = agent_of(write), sessions(tmp_path)
    async with serving(agent, session_service=service) as url:
        replies = [reply_of(await send(url, "hi", context_id="c1")) for _ in range(2)]
    session = await service.get_session(app_name=agent.name, user_id="A2A_USER_c1", session_id="c1")
    assert session
    assert replies == ["reply", "reply"]
    assert states == [{}, {"count": 1, "nested": {"kept": True}}]
    assert session.state == {"count": 2, "nested": {"kept": True}}
    assert "a2a_outbox" not in "".join(event.model_dump_json() for event in session.events)
    assert not [record for record in caplog.records if "serializ" in record.getMessage()]


def tool_writes() -> BaseAgent:
    def write(tool_context: ToolContext) -> str:
        """Writes the outbox."""
        tool_context.state["a2a_outbox"] = A2AOutbox(message=message_of("from the outbox"))
        return "written"

    model = ScriptedModel(steps=[[call("write", call_id="1")], [text("the model's text")]])
    return LlmAgent(name="llm", model=model, tools=[write])


def parallel_tools_write() -> BaseAgent:
    def write(tool_context: ToolContext) -> str:
        """Writes the outbox."""
        tool_context.state["a2a_outbox"] = A2AOutbox(message=message_of("from the outbox"))
        return "written"

    def look() -> str:
        """Looks on."""
        return "seen"

    calls = [call("write", call_id="1"), call("look", call_id="2")]
    model = ScriptedModel(steps=[calls, [text("the model's text")]])
    return LlmAgent(name="llm", model=model, tools=[write, look])


def callback_writes() -> BaseAgent:
    def write(callback_context: CallbackContext) -> None:
        callback_context.state["a2a_outbox"] = message_of("from the outbox")

    model = ScriptedModel(steps=[[text("the model's text")]])
    return LlmAgent(name="llm", model=model, after_agent_callback=write)


def agent_tool_writes() -> BaseAgent:
    child = writing(message_of("from the outbox"))
    calls = [call("agent", call_id="1", request="x")]
    model = ScriptedModel(steps=[calls, [text("the model's text")]])
    return LlmAgent(name="llm", model=model, tools=[AgentTool(child)])


def node_writes() -> Workflow:
    def write(ctx: Context) -> str:
        ctx.state["a2a_outbox"] = message_of("from the outbox")
        return "the node's output"

    return Workflow(name="flow", edges=[(START, write)])


@pytest.mark.parametrize(
    "agent", [tool_writes, parallel_tools_write, callback_writes, agent_tool_writes, node_writes]
)
async def test_an_outbox_can_be_written_wherever_there_is_state(
    agent: Callable[[], BaseAgent | Workflow],
) -> None:
    """C2, C4"""
    async with serving(agent()) as url:
        first = await send(url, "hi", context_id="c1")
    assert reply_of(first) == "from the outbox"


async def test_an_outbox_message_in_a_foreign_state_key_is_left_alone() -> None:
    """C2"""

    async def write(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        event = text_event(agent, ctx, "the reply")
        event.actions.state_delta["other_outbox"] = {"parts": [{"text": "not a reply"}]}
        yield event

    async with serving(agent_of(write)) as url:
        assert reply_of(await send(url, "hi")) == "the reply"
