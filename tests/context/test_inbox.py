import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from a2a.types import Message, Part, Task, TaskState
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.context import Context
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.apps import App
from google.adk.events import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.adk.workflow import START, Workflow
from google.genai import types

from aion_adk import A2AInbox, inbox_of
from aion_adk.context.inbox import AnyContext, without_credentials
from aion_adk.protocol.structs import to_dict, to_struct
from tests.agents import agent_of, in_loop, in_parallel, in_sequence, text_event
from tests.models import ScriptedModel, call, text
from tests.serving import client_of, request_of, send, serving


class Seen:
    """Where an inbox was read, and which message was in it."""

    def __init__(self) -> None:
        self.at: dict[str, str] = {}

    def __call__(self, where: str, ctx: AnyContext) -> None:
        self.at[where] = inbox_of(ctx).message.message_id

    def agent(self, name: str) -> BaseAgent:
        async def run(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            assert getattr(ctx, "a2a_inbox") is inbox_of(ctx)  # noqa: B009 # no declared attribute
            self(agent.name, ctx)
            yield text_event(agent, ctx, agent.name)

        return agent_of(run, name=name)


async def test_every_agent_of_a_tree_has_the_inbox() -> None:
    """B1: root, sub-agents, sequence, parallel branches, loop."""
    seen = Seen()
    tree = in_sequence(
        seen.agent("first"),
        in_parallel(seen.agent("left"), seen.agent("right")),
        in_loop(seen.agent("again"), times=2),
    )
    async with serving(tree) as url:
        await send(url, "hello", message_id="m1")
    assert seen.at == dict.fromkeys(["first", "left", "right", "again"], "m1")


async def test_every_node_of_a_workflow_has_the_inbox() -> None:
    """B1"""
    seen = Seen()

    def plain(ctx: Context) -> str:
        seen("function", ctx)
        return "next"

    async def awaited(ctx: Context) -> None:
        seen("coroutine", ctx)

    workflow = Workflow(name="flow", edges=[(START, plain, awaited, seen.agent("agent"))])
    async with serving(workflow) as url:
        await send(url, "hello", message_id="m1")
    assert seen.at == dict.fromkeys(["function", "coroutine", "agent"], "m1")


class Watching(BasePlugin):
    """Reads the inbox in the callbacks of a plugin."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(name="watching")
        self._seen = seen

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        self._seen("plugin on user message", invocation_context)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._seen("plugin before run", invocation_context)

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        self._seen("plugin on event", invocation_context)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> None:
        self._seen("plugin before tool", tool_context)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._seen("plugin after run", invocation_context)


def callbacks(seen: Seen) -> dict[str, Any]:
    """Every callback of an LlmAgent; ADK passes their contexts by name."""

    def reading(kind: str) -> Callable[..., None]:
        def read(**given: Any) -> None:
            seen(kind, given.get("callback_context") or given["tool_context"])

        return read

    kinds = [
        f"{when}_{what}" for when in ("before", "after") for what in ("agent", "model", "tool")
    ]
    return {f"{kind}_callback": reading(kind) for kind in kinds}


async def test_tools_callbacks_and_children_of_an_llm_agent_have_the_inbox() -> None:
    """B1: sync tools in the thread pool, async tools, every callback, AgentTool, instructions."""
    seen = Seen()
    threads: list[int] = []

    def sync_tool(tool_context: ToolContext) -> str:
        """Runs in the thread pool."""
        threads.append(threading.get_ident())
        seen("sync tool", tool_context)
        return "done"

    async def async_tool(tool_context: ToolContext) -> str:
        """Runs in the event loop."""
        seen("async tool", tool_context)
        return "done"

    def instruction(ctx: ReadonlyContext) -> str:
        seen("instruction", ctx)
        return "Be brief."

    model = ScriptedModel(
        steps=[
            [call("sync_tool", call_id="1"), call("async_tool", call_id="2")],
            [call("child", call_id="3", request="x")],
            [text("done")],
        ]
    )
    agent = LlmAgent(
        name="llm",
        model=model,
        instruction=instruction,
        tools=[sync_tool, async_tool, AgentTool(seen.agent("child"))],
        **callbacks(seen),
    )
    app = App(name="app", root_agent=agent, plugins=[Watching(seen)])
    async with serving(app) as url:
        task = await send(url, "hello", message_id="m1")
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert threads != [threading.get_ident()]
    assert set(seen.at.values()) == {"m1"}
    assert set(seen.at) == {
        "sync tool",
        "async tool",
        "child",
        "instruction",
        "before_agent",
        "after_agent",
        "before_model",
        "after_model",
        "before_tool",
        "after_tool",
        "plugin on user message",
        "plugin before run",
        "plugin on event",
        "plugin before tool",
        "plugin after run",
    }


async def test_the_inbox_holds_the_request() -> None:
    """A9, B1: task, message with all parts, metadata, caller, extensions, headers."""
    inboxes: list[A2AInbox] = []

    async def reading(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inboxes.append(inbox_of(ctx))
        yield text_event(agent, ctx, "read")

    request = request_of(
        [Part(text="hello"), Part(raw=b"\x01", media_type="image/png")],
        message_id="m1",
        context_id="c1",
        metadata={"trace": {"id": 7, "aion:network": "slack"}},
    )
    headers = {
        "X-Request-Id": "r1",
        "Authorization": "Bearer hidden",
        "X-Api-Key": "hidden",
        "Cookie": "session=hidden",
        "A2A-Extensions": "https://example.org/ext",
    }
    async with serving(agent_of(reading)) as url, client_of(url, headers=headers) as client:
        [frame] = [frame async for frame in client.send_message(request)]
    [inbox] = inboxes
    assert inbox.task.id == frame.task.id
    assert inbox.task.context_id == "c1"
    assert inbox.task.status.state == TaskState.TASK_STATE_WORKING
    assert [message.message_id for message in inbox.task.history] == ["m1"]
    assert inbox.message.parts == request.message.parts
    assert inbox.metadata == {"trace": {"id": 7, "aion:network": "slack"}}
    assert isinstance(inbox.metadata["trace"]["id"], int)
    assert inbox.headers["x-request-id"] == "r1"
    assert "hidden" not in str(inbox.headers)
    assert inbox.extensions == {"https://example.org/ext"}
    assert (inbox.user_id, inbox.authenticated) == ("A2A_USER_c1", False)
    assert inbox.origin == "a2a"
    assert "trace" not in to_dict(frame.task.metadata)


async def test_the_inbox_keeps_protected_keys_that_the_history_loses() -> None:
    """D3"""
    inboxes: list[A2AInbox] = []

    async def reading(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inboxes.append(inbox_of(ctx))
        yield text_event(agent, ctx, "read")

    metadata = {"aion:network": "slack", "deep": [{"https://docs.aion.to/x": 1}], "mine": 1}
    part = Part(text="hello", metadata=to_struct(metadata))
    request = request_of([part], message_id="m1")
    request.message.metadata.update(metadata)
    async with serving(agent_of(reading)) as url, client_of(url) as client:
        [frame] = [frame async for frame in client.send_message(request)]
    kept: dict[str, Any] = {"deep": [{}], "mine": 1}
    stored = frame.task.history[0]
    assert to_dict(stored.metadata) == kept
    assert to_dict(stored.parts[0].metadata) == kept
    [inbox] = inboxes
    assert to_dict(inbox.message.metadata) == to_dict(to_struct(metadata))
    assert to_dict(inbox.message.parts[0].metadata) == to_dict(to_struct(metadata))


async def test_nothing_done_to_an_inbox_reaches_the_server_or_another_reader() -> None:
    """B2"""
    inboxes: list[A2AInbox] = []

    async def spoiling(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inbox = inbox_of(ctx)
        inboxes.append(inbox)
        inbox.message.parts[0].text = "spoiled"
        inbox.task.history[0].parts[0].text = "spoiled"
        inbox.task.metadata.update({"spoiled": True})
        inbox.metadata["deep"]["spoiled"] = True
        inbox.headers["spoiled"] = "yes"
        yield text_event(agent, ctx, "spoiled")

    tree = in_sequence(agent_of(spoiling, name="one"), agent_of(spoiling, name="two"))
    async with serving(tree) as url:
        task = await send(url, "hello", metadata={"deep": {"kept": True}})
    assert task.history[0].parts[0].text == "hello"
    assert not task.metadata.fields
    for inbox in inboxes:
        assert inbox.message.parts[0].text == "hello"
        assert inbox.task.history[0].parts[0].text == "hello"
        assert inbox.metadata == {"deep": {"kept": True}}
        assert "spoiled" not in inbox.headers


def test_an_inbox_is_frozen_and_keeps_a_copy_of_what_it_was_made_from() -> None:
    """B2"""
    task, metadata = Task(id="t1"), {"deep": [1]}
    inbox = A2AInbox(task=task, message=Message(), metadata=metadata, headers={})
    task.id = "t2"
    metadata["deep"].append(2)
    assert inbox.task.id == "t1"
    assert inbox.metadata == {"deep": [1]}
    for name in ("task", "metadata", "user_id"):
        with pytest.raises(FrozenInstanceError):
            setattr(inbox, name, None)


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "X-API-Key",
        "x_api_key",
        "X-Auth-Request",
        "X-Amz-Security-Token",
        "X-Goog-Iap-Jwt-Assertion",
        "X-Hub-Signature-256",
        "X-Client-Secret",
        "X-Forwarded-Client-Cert",
    ],
)
def test_headers_that_carry_credentials_are_left_out(name: str) -> None:
    """B1"""
    assert without_credentials({name: "hidden", "X-Request-Id": "r1"}) == {"X-Request-Id": "r1"}
