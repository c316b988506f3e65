import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.types import Message, Part, Task, TaskState, TaskStatus
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from aion_adk import (
    A2ABridgePlugin,
    A2AInbox,
    A2AOutbox,
    emit_data,
    emit_file,
    emit_message,
    emit_task_metadata,
    inbox_of,
    reply,
    reply_stream,
)
from tests.agents import agent_of, outbox_event, text_event
from tests.models import ScriptedModel, call, text
from tests.serving import reply_of, send, serving


async def run(agent: BaseAgent, *plugins: BasePlugin) -> tuple[list[Event], dict[str, Any]]:
    """Runs the agent as the adk commands do; its events and the state it leaves."""
    app = App(name="app", root_agent=agent, plugins=list(plugins))
    runner = InMemoryRunner(app=app)
    runner.auto_create_session = True
    message = types.Content(role="user", parts=[types.Part(text="hello")])
    events = [
        event
        async for event in runner.run_async(user_id="u1", session_id="s1", new_message=message)
    ]
    session = await runner.session_service.get_session(
        app_name="app", user_id="u1", session_id="s1"
    )
    assert session
    return events, session.state


def texts_of(events: list[Event]) -> list[str]:
    return [
        part.text
        for event in events
        for part in (event.content.parts or [] if event.content else [])
        if part.text
    ]


async def test_under_adk_the_inbox_comes_from_the_session() -> None:
    """B3"""
    inboxes: list[A2AInbox] = []

    async def reading(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inboxes.append(inbox_of(ctx))
        yield text_event(agent, ctx, "read")

    await run(agent_of(reading), A2ABridgePlugin())
    [inbox] = inboxes
    assert inbox.origin == "adk"
    assert list(inbox.message.parts) == [Part(text="hello")]
    assert inbox.task.status.state == TaskState.TASK_STATE_WORKING
    assert inbox.task.context_id == inbox.message.context_id == "s1"
    assert list(inbox.task.history) == [inbox.message]
    assert (inbox.user_id, inbox.authenticated, inbox.metadata) == ("u1", False, {})


async def test_without_the_plugin_the_error_names_it() -> None:
    """B3"""

    async def reading(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inbox_of(ctx)
        yield text_event(agent, ctx, "read")

    with pytest.raises(LookupError, match=r"A2ABridgePlugin\(\)"):
        await run(agent_of(reading))


OUTBOXES = [
    A2AOutbox(message=Message(parts=[Part(text="shown")])),
    A2AOutbox(task=Task(history=[Message(), Message(parts=[Part(text="shown")])])),
    A2AOutbox(
        task=Task(
            history=[Message(parts=[Part(text="earlier")])],
            status=TaskStatus(message=Message(parts=[Part(text="shown")])),
        )
    ),
    Message(parts=[Part(text="shown")]),
    {"parts": [{"text": "shown"}]},
]


@pytest.mark.parametrize("outbox", OUTBOXES)
@pytest.mark.parametrize("instances", [1, 2])
async def test_under_adk_an_outbox_is_shown_and_not_stored(outbox: Any, instances: int) -> None:
    """B4"""

    async def writing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield outbox_event(agent, ctx, outbox, kept="yes")

    plugins = [A2ABridgePlugin(name=f"bridge_{n}") for n in range(instances)]
    events, state = await run(agent_of(writing), *plugins)
    assert texts_of(events) == ["shown"]
    assert state == {"kept": "yes"}


async def test_under_adk_an_outbox_takes_the_place_of_the_events_own_text() -> None:
    """B4"""

    async def writing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        event = text_event(agent, ctx, "ordinary")
        event.actions.state_delta["a2a_outbox"] = Message(parts=[Part(text="shown")])
        yield event

    events, _ = await run(agent_of(writing), A2ABridgePlugin())
    assert texts_of(events) == ["shown"]


async def test_under_adk_a_tools_outbox_is_shown_when_the_model_has_answered() -> None:
    """B4: the model never reads it beside the function response."""

    def make_report(tool_context: ToolContext) -> str:
        """Makes a report."""
        tool_context.state["a2a_outbox"] = A2AOutbox(message=Message(parts=[Part(text="shown")]))
        return "made"

    model = ScriptedModel(steps=[[call("make_report", call_id="1")], [text("done")]])
    agent = LlmAgent(name="llm", model=model, tools=[make_report])
    events, state = await run(agent, A2ABridgePlugin())
    assert texts_of(events) == ["shown"]
    assert "a2a_outbox" not in state
    assert "shown" not in str(model.requests[-1].contents)


async def test_under_adk_an_agent_tools_outbox_is_its_result() -> None:
    """B4"""

    async def writing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert inbox_of(ctx).origin == "adk"
        yield outbox_event(agent, ctx, Message(parts=[Part(text="shown")]))

    model = ScriptedModel(steps=[[call("child", call_id="1", request="x")], [text("done")]])
    agent = LlmAgent(name="llm", model=model, tools=[AgentTool(agent_of(writing, name="child"))])
    events, state = await run(agent, A2ABridgePlugin())
    assert texts_of(events) == ["done"]
    assert "shown" in str(model.requests[-1].contents)
    assert not state


async def test_outside_a_served_request_the_helpers_only_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """B3, E: the agent runs unchanged under the adk commands."""

    async def helping(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, "one")
        emit_file(ctx, url="https://example.org/a.pdf", mime_type="application/pdf")
        emit_data(ctx, {"k": 1})
        emit_message(ctx, "two")
        emit_task_metadata(ctx, {"k": 1})
        joined = await reply_stream(ctx, ["a", "b"])
        yield text_event(agent, ctx, f"own {joined}")

    with caplog.at_level(logging.DEBUG, logger="aion_adk"):
        events, _ = await run(agent_of(helping), A2ABridgePlugin())
    assert texts_of(events) == ["own ab"]
    logged = [record for record in caplog.records if record.name == "aion_adk.context.emit"]
    assert {record.levelno for record in logged} == {logging.DEBUG}
    assert len(logged) == 6


class Replacing(BasePlugin):
    """Returns a changed event, which keeps the plugins after it from seeing the event."""

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event:
        return event.model_copy(update={"custom_metadata": {"seen": True}})


@pytest.mark.parametrize("bridge", [[], [A2ABridgePlugin()]])
async def test_a_plugin_that_replaces_events_does_not_hide_the_outbox(
    bridge: list[BasePlugin],
) -> None:
    """C2"""

    async def writing(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield outbox_event(agent, ctx, Message(parts=[Part(text="from the outbox")]))

    plugins = [Replacing(name="replacing"), *bridge]
    app = App(name="app", root_agent=agent_of(writing), plugins=plugins)
    async with serving(app) as url:
        assert reply_of(await send(url, "hello")) == "from the outbox"
