"""Pauses inside agents of agents, in workflows, and across a restart of the server."""

# ADK deprecates the agents of agents that many still use.
# pyright: reportDeprecated=false

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from a2a.server.tasks import DatabaseTaskStore, InMemoryTaskStore
from a2a.types import Task, TaskState
from fastapi.openapi.models import APIKey, OAuth2, OAuthFlowAuthorizationCode, OAuthFlows
from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes, OAuth2Auth
from google.adk.events import RequestInput
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.adk.workflow import JoinNode, Workflow
from google.genai import types
from sqlalchemy.ext.asyncio import create_async_engine

from aion_adk import ask_caller
from aion_adk.protocol.from_genai import data_part
from tests.models import ScriptedModel, call, text
from tests.pausing import ask_boss, calls_to_boss, follow_up, last_responses, model_of, pending
from tests.serving import reply_of, send, serving

INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
AUTH_REQUIRED = TaskState.TASK_STATE_AUTH_REQUIRED
COMPLETED = TaskState.TASK_STATE_COMPLETED

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def llm(name: str, *steps: list[types.Part], **options: Any) -> LlmAgent:
    tools = options.pop("tools", [LongRunningFunctionTool(ask_boss)])
    return LlmAgent(name=name, model=ScriptedModel(steps=list(steps)), tools=tools, **options)


def runs(*agents: LlmAgent) -> list[int]:
    """How often the model of each agent was called."""
    return [len(model_of(agent).requests) for agent in agents]


def ids(task: Task) -> set[str]:
    return {item["id"] for item in pending(task)}


async def test_later_siblings_of_a_sequence_run_once_after_the_answer() -> None:
    """F2"""
    one, three = llm("one", [text("one")]), llm("three", [text("three")])
    two = llm("two", calls_to_boss("budget"), [text("two")])
    sequence = SequentialAgent(name="sequence", sub_agents=[one, two, three])
    async with serving(sequence) as url:
        task = await send(url, "go")
        before = runs(one, two, three)
        done = await follow_up(url, task, "yes")
    assert (task.status.state, before) == (INPUT_REQUIRED, [1, 1, 0])
    assert (done.status.state, reply_of(done)) == (COMPLETED, "three")
    assert runs(one, two, three) == [1, 2, 1]


async def test_a_partly_answered_confirmation_does_not_let_the_sequence_go_on() -> None:
    """F2"""
    sold: list[int] = []

    def sell(lot: int) -> str:
        sold.append(lot)
        return "sold"

    selling = [call("sell", call_id=f"sell-{lot}", lot=lot) for lot in (1, 2)]
    tools = [FunctionTool(sell, require_confirmation=True)]
    seller = llm("seller", selling, [text("sold both")], tools=tools)
    last = llm("last", [text("the end")])
    async with serving(SequentialAgent(name="sequence", sub_agents=[seller, last])) as url:
        task = await send(url, "go")
        first, _ = pending(task)
        partial = await follow_up(url, task, [data_part({first["id"]: True})])
        assert (partial.status.state, sold, runs(last)) == (INPUT_REQUIRED, [], [0])
        done = await follow_up(url, partial, "yes")
    assert (done.status.state, reply_of(done)) == (COMPLETED, "the end")
    assert (sorted(sold), runs(last)) == ([1, 2], [1])


async def test_a_loop_goes_on_in_the_iteration_that_asked() -> None:
    """F2"""
    asker = llm("asker", calls_to_boss("budget"), [text("first")], [text("second")])
    closer = llm("closer", [text("closed")])
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[asker, closer])
    async with serving(loop) as url:
        task = await send(url, "go")
        done = await follow_up(url, task, "yes")
    assert (done.status.state, reply_of(done)) == (COMPLETED, "closed")
    assert runs(asker, closer) == [3, 2]


async def test_parallel_branches_each_get_their_answer() -> None:
    """F2"""
    left = llm("left", calls_to_boss("left"), [text("left done")])
    right = llm("right", calls_to_boss("right"), [text("right done")])
    free = llm("free", [text("free done")])
    async with serving(ParallelAgent(name="both", sub_agents=[left, right, free])) as url:
        task = await send(url, "go")
        done = await follow_up(url, task, [data_part({"ask-left": "L", "ask-right": "R"})])
    assert ids(task) == {"ask-left", "ask-right"}
    assert done.status.state == COMPLETED
    assert runs(left, right, free) == [2, 2, 1]
    assert (last_responses(left), last_responses(right)) == ([{"result": "L"}], [{"result": "R"}])


async def test_a_branch_that_asks_again_pauses_the_task_again() -> None:
    """F2"""
    left = llm("left", calls_to_boss("left"), calls_to_boss("more"), [text("left done")])
    right = llm("right", calls_to_boss("right"), [text("right done")])
    async with serving(ParallelAgent(name="both", sub_agents=[left, right])) as url:
        task = await send(url, "go")
        again = await follow_up(url, task, [data_part({"ask-left": "L", "ask-right": "R"})])
        done = await follow_up(url, again, "M")
    assert (again.status.state, ids(again)) == (INPUT_REQUIRED, {"ask-more"})
    assert done.status.state == COMPLETED
    assert runs(left, right) == [3, 2]


async def test_a_sub_agent_that_took_over_goes_on() -> None:
    """F2"""
    sub = llm("sub", calls_to_boss("budget"), [text("sub is done")], description="asks")
    transfer = call("transfer_to_agent", call_id="transfer", agent_name="sub")
    root = llm("root", [transfer], sub_agents=[sub], tools=[])
    async with serving(root) as url:
        task = await send(url, "go")
        done = await follow_up(url, task, "yes")
    assert (done.status.state, reply_of(done)) == (COMPLETED, "sub is done")
    assert runs(root, sub) == [1, 2]


async def test_a_sub_agent_called_as_a_tool_answers_its_caller_after_the_pause() -> None:
    """F2"""
    sub = llm(
        "sub", calls_to_boss("budget"), [text("5000")], description="asks", mode="single_turn"
    )
    root = llm(
        "root", [call("sub", call_id="s1", request="ask")], [text("root is done")], sub_agents=[sub]
    )
    async with serving(root) as url:
        task = await send(url, "go")
        done = await follow_up(url, task, "yes")
    assert (task.status.state, ids(task)) == (INPUT_REQUIRED, {"ask-budget"})
    assert (done.status.state, reply_of(done)) == (COMPLETED, "root is done")
    assert runs(root, sub) == [2, 2]


async def test_an_agent_tool_cannot_pause_and_its_caller_gets_the_reason() -> None:
    """F1"""
    sub = llm("sub", calls_to_boss("budget"), description="asks")
    root = llm(
        "root", [call("sub", call_id="s1", request="x")], [text("no")], tools=[AgentTool(sub)]
    )
    async with serving(root) as url:
        task = await send(url, "go")
    assert (task.status.state, reply_of(task)) == (COMPLETED, "no")
    assert "unresolved" in last_responses(root)[0]["result"]


async def _count(node_input: Any) -> AsyncGenerator[RequestInput, None]:
    yield RequestInput(
        interrupt_id="count", message="How many?", response_schema={"type": "integer"}
    )


def _double(node_input: int) -> int:
    return node_input * 2


async def test_a_workflow_asks_and_goes_on_with_the_answer() -> None:
    """F1, F2"""
    prepared: list[str] = []

    def prepare(node_input: str) -> str:
        prepared.append(node_input)
        return node_input

    workflow = Workflow(name="workflow", edges=[("START", prepare, _count, _double)])
    async with serving(workflow) as url:
        task = await send(url, "go")
        wrong = await follow_up(url, task, "a lot")
        done = await follow_up(url, task, "21")
    assert reply_of(task) == 'How many?\nAnswer with JSON for this schema: {"type": "integer"}'
    assert (wrong.status.state, ids(wrong)) == (INPUT_REQUIRED, {"count"})
    assert done.status.state == COMPLETED
    assert [part.data.number_value for part in done.status.message.parts] == [42]
    assert prepared == ["go"]


async def test_nodes_of_a_workflow_that_wait_side_by_side() -> None:
    """F2"""
    left = llm("left", calls_to_boss("left"), [text("L")], mode="single_turn")
    right = llm("right", calls_to_boss("right"), [text("R")], mode="single_turn")
    join = JoinNode(name="join")
    workflow = Workflow(name="workflow", edges=[("START", left, join), ("START", right, join)])
    async with serving(workflow) as url:
        task = await send(url, "go")
        done = await follow_up(url, task, [data_part({"ask-left": 1, "ask-right": 2})])
    assert done.status.state == COMPLETED
    assert runs(left, right) == [2, 2]
    (reply,) = done.status.message.parts
    assert dict(reply.data.struct_value) == {"left": "L", "right": "R"}


async def test_an_agent_asks_its_caller() -> None:
    """F1, F2"""
    question = call("adk_request_input", call_id="q1", message="Which colour?")
    agent = llm("painter", [question], [text("Painting.")], tools=[ask_caller])
    async with serving(agent) as url:
        task = await send(url, "paint it")
        done = await follow_up(url, task, "blue")
    assert reply_of(task) == "Which colour?\nAnswer with text or JSON."
    assert (done.status.state, reply_of(done)) == (COMPLETED, "Painting.")
    assert last_responses(agent) == [{"result": "blue"}]


def _report_tool(config: AuthConfig, used: list[str]) -> FunctionTool:
    def report(tool_context: ToolContext) -> str:
        """Reads a report that takes a credential."""
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return "waiting"
        oauth2 = credential.oauth2
        used.append(credential.api_key or (oauth2.auth_response_uri if oauth2 else "") or "")
        return "read"

    return FunctionTool(report)


def _api_key() -> AuthConfig:
    return AuthConfig(
        auth_scheme=APIKey.model_validate({"in": "header", "name": "X-Key"}),
        raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.API_KEY),
    )


def _oauth() -> AuthConfig:
    flow = OAuthFlowAuthorizationCode(
        authorizationUrl="https://login.test/authorize", tokenUrl="https://login.test/token"
    )
    return AuthConfig(
        auth_scheme=OAuth2(flows=OAuthFlows(authorizationCode=flow)),
        raw_auth_credential=AuthCredential(
            auth_type=AuthCredentialTypes.OAUTH2,
            oauth2=OAuth2Auth(client_id="us", client_secret="hush", redirect_uri="https://us.test"),
        ),
    )


async def test_a_credential_request_is_answered_with_the_key_as_text() -> None:
    """F1, F2"""
    used: list[str] = []
    reporting = [call("report", call_id="r1")]
    agent = llm("reader", reporting, [text("Read.")], tools=[_report_tool(_api_key(), used)])
    async with serving(agent) as url:
        task = await send(url, "read it")
        done = await follow_up(url, task, "k-123")
    assert task.status.state == AUTH_REQUIRED
    assert reply_of(task) == "The agent needs your authorization.\nAnswer with the API key."
    assert [item["name"] for item in pending(task)] == ["adk_request_credential"]
    assert (done.status.state, reply_of(done), used) == (COMPLETED, "Read.", ["k-123"])


async def test_a_credential_request_shows_where_to_sign_in_and_no_secret() -> None:
    """F1"""
    tools = [_report_tool(_oauth(), [])]
    async with serving(llm("reader", [call("report", call_id="r1")], tools=tools)) as url:
        task = await send(url, "read it")
        nonsense = await follow_up(url, task, [data_part({"nothing": "useful"})])
    assert (task.status.state, nonsense.status.state) == (AUTH_REQUIRED, AUTH_REQUIRED)
    assert "Sign in at https://login.test/authorize?" in reply_of(task)
    (item,) = pending(task)
    oauth2 = item["args"]["authConfig"]["exchangedAuthCredential"]["oauth2"]
    assert oauth2["authUri"].startswith("https://login.test/authorize?")
    assert "hush" not in str(task)


async def test_a_paused_task_outlives_the_server(tmp_path: Path) -> None:
    """F2"""
    database = f"sqlite+aiosqlite:///{tmp_path / 'pause.db'}"

    def stores() -> dict[str, Any]:
        engine = create_async_engine(database)
        sessions = DatabaseSessionService(db_url=database)
        return {"task_store": DatabaseTaskStore(engine), "session_service": sessions}

    before = llm("asker", calls_to_boss("budget", "date"))
    async with serving(before, **stores()) as url:
        task = await send(url, "plan it")
        await follow_up(url, task, [data_part({"ask-date": "May"})])
    after = llm("asker", [text("All set.")])
    async with serving(after, **stores()) as url:
        done = await follow_up(url, task, "5000")
    assert (done.id, done.status.state, reply_of(done)) == (task.id, COMPLETED, "All set.")
    assert last_responses(after) == [{"result": "5000"}, {"result": "May"}]


async def test_a_lost_session_ends_the_task_with_the_reason(tmp_path: Path) -> None:
    """F2, F4"""
    store = InMemoryTaskStore()
    async with serving(llm("asker", calls_to_boss("budget")), task_store=store) as url:
        task = await send(url, "plan it")
    async with serving(llm("asker", [text("never")]), task_store=store) as url:
        done = await follow_up(url, task, "5000")
    assert done.status.state == TaskState.TASK_STATE_FAILED
    assert reply_of(done) == "The agent no longer knows the request that was answered."


async def test_a_given_runner_can_be_resumed_too() -> None:
    """F2"""
    three = llm("three", [text("three")])
    two = llm("two", calls_to_boss("budget"), [text("two")])
    sequence = SequentialAgent(name="sequence", sub_agents=[two, three])
    runner = Runner(app_name="app", agent=sequence, session_service=InMemorySessionService())
    async with serving(runner) as url:
        task = await send(url, "go")
        done = await follow_up(url, task, "yes")
    assert (done.status.state, reply_of(done)) == (COMPLETED, "three")
