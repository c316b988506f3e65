"""A confirmation asked and answered on every binding, in a foreign handler, and down a chain."""

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import TaskState
from google.adk.agents import LlmAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types
from starlette.applications import Starlette

from aion_adk import ADKAgentExecutor, build_agent_card
from aion_adk.protocol.from_genai import data_part
from tests.clients.bindings import BINDINGS, client_on
from tests.models import ScriptedModel, call, text
from tests.pausing import pending
from tests.serving import free_port, listening, reply_of, request_of, send, serving

INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
COMPLETED = TaskState.TASK_STATE_COMPLETED


def payer(paid: list[int], *amounts: int) -> LlmAgent:
    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    calls = [call("pay", call_id=f"p{amount}", amount=amount) for amount in amounts]
    model = ScriptedModel(steps=[calls, [text("Done.")]])
    tool = FunctionTool(pay, require_confirmation=True)
    return LlmAgent(name="payer", description="Pays.", model=model, tools=[tool])


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_confirmation_is_given_on_every_binding(binding: str) -> None:
    """F1, F2"""
    paid: list[int] = []
    agent = payer(paid, 5, 7)
    async with (
        serving(agent, grpc_port=free_port(), list_grpc=True) as url,
        client_on(binding, url, streaming=False) as client,
    ):
        (asked,) = [frame async for frame in client.send_message(request_of("pay"))]
        first, second = pending(asked.task)
        answer = {"id": first["id"], "name": first["name"], "response": {"confirmed": True}}
        by_id = request_of([data_part(answer, adk_type="function_response")], task_id=asked.task.id)
        (partial,) = [frame async for frame in client.send_message(by_id)]
        by_text = request_of("yes", task_id=asked.task.id)
        (done,) = [frame async for frame in client.send_message(by_text)]
    assert asked.task.status.state == INPUT_REQUIRED
    assert [item["id"] for item in pending(partial.task)] == [second["id"]]
    assert (done.task.status.state, reply_of(done.task)) == (COMPLETED, "Done.")
    assert sorted(paid) == [5, 7]


async def test_a_confirmation_is_given_in_a_handler_wired_by_hand() -> None:
    """F1, F2"""
    paid: list[int] = []
    agent = payer(paid, 5, 7)

    def build(url: str) -> Starlette:
        executor = ADKAgentExecutor(InMemoryRunner(agent=agent, app_name="payer"))
        card = build_agent_card(agent, url=url)
        handler = DefaultRequestHandler(executor, InMemoryTaskStore(), card)
        return Starlette(
            routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
        )

    async with listening(build) as url:
        asked = await send(url, "pay")
        first, _ = pending(asked)
        # That handler does not look up the context of a task.
        same = {"task_id": asked.id, "context_id": asked.context_id}
        partial = await send(url, [data_part({first["id"]: True})], **same)
        wrong = await send(url, "perhaps", **same)
        done = await send(url, "yes", **same)
    assert (partial.status.state, wrong.status.state) == (INPUT_REQUIRED, INPUT_REQUIRED)
    assert (done.status.state, reply_of(done)) == (COMPLETED, "Done.")
    assert sorted(paid) == [5, 7]


@pytest.mark.filterwarnings("ignore::UserWarning")
async def test_a_question_goes_up_a_chain_of_servers_and_its_answer_down() -> None:
    """F1, F2"""
    paid: list[int] = []
    async with serving(payer(paid, 5)) as below, httpx.AsyncClient(timeout=30) as http:
        factory = ClientFactory(ClientConfig(httpx_client=http))
        remote = RemoteA2aAgent(
            name="remote",
            agent_card=f"{below}/.well-known/agent-card.json",
            a2a_client_factory=factory,
        )
        transfer: list[types.Part] = [call("transfer_to_agent", call_id="t", agent_name="remote")]
        front = LlmAgent(name="front", model=ScriptedModel(steps=[transfer]), sub_agents=[remote])
        async with serving(front) as url:
            asked = await send(url, "pay")
            done = await send(url, "yes", task_id=asked.id)
    assert asked.status.state == INPUT_REQUIRED
    assert "Approve pay(amount=5)?" in reply_of(asked)
    assert (done.status.state, reply_of(done), paid) == (COMPLETED, "Done.", [5])
