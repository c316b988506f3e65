"""The README's comparison with ADK's own `to_a2a`, measured: each row is asked of both servers."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from urllib.parse import urlsplit

import httpx
import pytest
from a2a.types import Part, StreamResponse
from google.adk.a2a.utils.agent_to_a2a import to_a2a as adk_to_a2a
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from google.protobuf.json_format import MessageToJson
from starlette.applications import Starlette

from aion_adk import to_a2a
from tests.agents import text_event
from tests.paths import ROOT
from tests.serving import HEADERS, listening, send, stream

Serve = Callable[[BaseAgent, str], Starlette]
Probe = Callable[[Serve], Awaitable[str]]

ANSWER = "The answer is forty-two."
SECRET = "password=hunter2"
CHUNKS = ("The answer ", "is ", "forty-two.")


def ours(agent: BaseAgent, url: str) -> Starlette:
    return to_a2a(agent, public_url=url)


def adks(agent: BaseAgent, url: str) -> Starlette:
    address = urlsplit(url)
    return adk_to_a2a(agent, host=address.hostname or "", port=address.port or 0)


class Answering(BaseAgent):
    """Answers, and keeps what it was asked."""

    runs: int = 0
    received: str = ""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        self.runs += 1
        parts = (ctx.user_content and ctx.user_content.parts) or []
        self.received = ", ".join(f"`{part.text}`" if part.text else "bytes" for part in parts)
        yield text_event(self, ctx, ANSWER)


class Raising(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        raise RuntimeError(SECRET)
        yield


class Scripted(BaseLlm):
    """A model that streams its answer in three chunks when it is asked to stream."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for chunk in CHUNKS if stream else ():
            yield LlmResponse(content=types.ModelContent(chunk), partial=True)
        yield LlmResponse(content=types.ModelContent("".join(CHUNKS)))


def text_parts(frame: StreamResponse) -> list[str]:
    match frame.WhichOneof("payload"):
        case "status_update":
            parts = frame.status_update.status.message.parts
        case "artifact_update":
            parts = frame.artifact_update.artifact.parts
        case "message":
            parts = frame.message.parts
        case _:
            return []
    return [part.text for part in parts if part.text]


async def times_answered(serve: Serve) -> str:
    async with listening(lambda url: serve(Answering(name="agent"), url)) as url:
        frames = await stream(url, "What is it?")
    count = sum(ANSWER in text_parts(frame) for frame in frames)
    return {1: "once", 2: "twice"}[count]


async def chunks_streamed(serve: Serve) -> str:
    agent = LlmAgent(name="agent", model=Scripted(model="scripted"))
    async with listening(lambda url: serve(agent, url)) as url:
        frames = await stream(url, "What is it?")
    seen = [text for frame in frames for text in text_parts(frame) if text in CHUNKS]
    return "as it is produced" if seen == list(CHUNKS) else "when it is complete"


async def exception_seen(serve: Serve) -> str:
    async with listening(lambda url: serve(Raising(name="agent"), url)) as url:
        task = await send(url, "What is it?")
    return "an error id" if SECRET not in MessageToJson(task) else "the exception's text"


async def runs_of_a_repeated_message(serve: Serve) -> str:
    agent = Answering(name="agent")
    async with listening(lambda url: serve(agent, url)) as url:
        for _ in range(2):
            await send(url, "What is it?", message_id="m-1", context_id="c-1")
    return {1: "one", 2: "two"}[agent.runs]


async def data_received(serve: Serve) -> str:
    agent = Answering(name="agent")
    part = Part()
    part.data.struct_value.update({"count": 1})
    async with listening(lambda url: serve(agent, url)) as url:
        await send(url, [part])
    return agent.received


async def bindings_listed(serve: Serve) -> str:
    agent = Answering(name="agent")
    async with listening(lambda url: serve(agent, url)) as url, httpx.AsyncClient() as http:
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    return ", ".join(item["protocolBinding"] for item in card["supportedInterfaces"])


async def empty_message_answered(serve: Serve) -> str:
    agent = Answering(name="agent")
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": ""}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    async with listening(lambda url: serve(agent, url)) as url, httpx.AsyncClient() as http:
        body = (await http.post(f"{url}/", json=call, headers=HEADERS)).json()
    if agent.runs:
        return "runs the agent"
    return f"error {body['error']['code']}" if "error" in body else "a failed task"


ROWS: dict[str, Probe] = {
    "A streaming client gets the answer": times_answered,
    "A model's text reaches a streaming client": chunks_streamed,
    "A caller whose request raised sees": exception_seen,
    "Runs for one message sent twice": runs_of_a_repeated_message,
    'A data part `{"count": 1}` reaches the model as': data_received,
    "A message with nothing in it": empty_message_answered,
    "Bindings served by default": bindings_listed,
}


@pytest.mark.parametrize("question", ROWS)
async def test_the_readme_compares_what_is_measured(question: str) -> None:
    probe = ROWS[question]
    row = f"| {question} | {await probe(ours)} | {await probe(adks)} |"
    assert row in (ROOT / "README.md").read_text().splitlines()


def test_the_readme_compares_nothing_else() -> None:
    table = (ROOT / "README.md").read_text().partition("| | aion-adk | ADK `to_a2a` |\n")[2]
    rows = table.partition("\n\n")[0].splitlines()[1:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(ROWS)
