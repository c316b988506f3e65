import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from a2a.types import Message, Part, TaskState
from starlette.responses import JSONResponse, PlainTextResponse, Response

from aion_adk.drivers import N8nAgent, load_agent
from aion_adk.errors import LoadError
from aion_adk.protocol.structs import to_plain
from tests.drivers.cases.case import SECRET
from tests.drivers.n8n_server import N8n
from tests.serving import reply_of, send, serving, text_of


async def answer_to(response: Response, **options: Any) -> Message:
    n8n = N8n()
    n8n.answers["flow"] = response
    async with n8n.running() as url, serving(N8nAgent("flow", f"{url}/flow", **options)) as agent:
        return (await send(agent, "hi")).status.message


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (PlainTextResponse("plain words"), "plain words"),
        (PlainTextResponse("two\nlines\u2028three"), "two\nlines\u2028three"),
        (JSONResponse({"output": "an object"}), "an object"),
        (JSONResponse([{"output": "a"}, {"text": "b"}]), "ab"),
        (JSONResponse("a string"), "a string"),
        (PlainTextResponse(""), ""),
    ],
)
async def test_every_kind_of_answer_is_read(response: Response, text: str) -> None:
    assert text_of(await answer_to(response)) == text


async def test_an_object_with_more_in_it_is_kept_as_data() -> None:
    both = await answer_to(JSONResponse({"output": "words", "score": 3}))
    data = await answer_to(JSONResponse([{"score": 3}]))
    picked = await answer_to(JSONResponse({"a": "this", "output": "not"}), output_key="a")
    assert (both.parts[0].text, to_plain(both.parts[1].data)) == (
        "words",
        {"output": "words", "score": 3},
    )
    assert to_plain(data.parts[0].data) == {"score": 3}
    assert text_of(picked) == "this"


@pytest.mark.parametrize(
    ("flow", "begin"),
    [
        ("gone", "The n8n webhook is not registered: its workflow must be active and take POST."),
        ("broken", "The n8n workflow answered with status 500."),
        ("started", "The n8n workflow was started but gave no answer: its Webhook node must"),
    ],
)
async def test_a_refusal_is_explained_and_its_body_is_only_logged(
    flow: str, begin: str, caplog: pytest.LogCaptureFixture
) -> None:
    n8n = N8n()
    async with n8n.running() as url, serving(N8nAgent("flow", f"{url}/{flow}")) as agent:
        task = await send(agent, "hi")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert reply_of(task).startswith(begin)
    assert SECRET not in str(task)
    assert (SECRET in caplog.text) == (flow == "broken")


async def test_what_the_server_sets_wins_over_what_the_caller_sends() -> None:
    n8n = N8n()
    n8n.answers["flow"] = PlainTextResponse("ok")
    async with n8n.running() as url:
        agent = N8nAgent(
            "flow",
            f"{url}/flow",
            message_field="chatInput",
            parse_json_input=True,
            payload_template={"tenant": "ours", "action": "sendMessage"},
        )
        async with serving(agent) as served:
            await send(served, "hi", context_id="c")
            await send(served, '{"tenant": "theirs", "sessionId": "stolen"}', context_id="c")
    first, second = n8n.received
    session = first.pop("sessionId")
    assert first == {"chatInput": "hi", "tenant": "ours", "action": "sendMessage"}
    assert second == {"tenant": "ours", "action": "sendMessage", "sessionId": session}


async def test_files_are_uploaded_and_links_are_listed() -> None:
    n8n = N8n()
    n8n.answers["flow"] = PlainTextResponse("ok")
    async with n8n.running() as url, serving(N8nAgent("flow", f"{url}/flow")) as agent:
        link = Part(url="https://e.test/a.pdf", filename="a.pdf", media_type="application/pdf")
        await send(agent, [Part(text="read"), link])
        await send(agent, [Part(text="read"), Part(raw=b"data", filename="b.txt")])
    linked, uploaded = n8n.received
    assert linked["files"] == [
        {"url": "https://e.test/a.pdf", "mimeType": "application/pdf", "name": "a.pdf"}
    ]
    assert (uploaded["message"], uploaded["file0"]) == ("read", ("b.txt", b"data"))


def failing_with(error: Callable[[str], Exception], times: int) -> tuple[Any, list[httpx.Request]]:
    """A client whose first requests end with an error, and the requests it was asked for."""
    asked: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if len(asked) <= times:
            raise error("no")
        return httpx.Response(200, json={"output": "at last"})

    return httpx.AsyncClient(transport=httpx.MockTransport(respond)), asked


async def outcome_of(client: httpx.AsyncClient, **options: Any) -> str:
    agent = N8nAgent("flow", "http://n8n.test/x", client=client, backoff=0, **options)
    async with serving(agent) as url:
        return reply_of(await send(url, "hi"))


async def test_a_request_that_was_not_sent_is_sent_again() -> None:
    client, asked = failing_with(httpx.ConnectError, 2)
    assert await outcome_of(client) == "at last"
    assert len(asked) == 3


async def test_a_request_that_may_have_arrived_is_sent_once() -> None:
    client, asked = failing_with(httpx.ReadError, 1)
    assert await outcome_of(client) == "The n8n workflow could not be reached."
    assert len(asked) == 1


async def test_an_idempotent_workflow_may_be_asked_again() -> None:
    client, asked = failing_with(httpx.ReadError, 1)
    assert await outcome_of(client, idempotent=True) == "at last"
    assert len(asked) == 2


async def test_busy_answers_are_tried_again_only_if_idempotent() -> None:
    for idempotent, answer in ((True, "ok"), (False, "The n8n workflow answered with status 503.")):
        answers = iter([httpx.Response(503), httpx.Response(200, text="ok")])
        transport = httpx.MockTransport(lambda _, answers=answers: next(answers))
        client = httpx.AsyncClient(transport=transport)
        assert await outcome_of(client, idempotent=idempotent) == answer


async def test_a_server_that_is_not_there_is_reported_as_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/webhook/x"
        async with serving(N8nAgent("flow", url, backoff=0)) as agent:
            task = await send(agent, "hi")
    assert reply_of(task) == "The n8n workflow could not be reached."


async def test_headers_are_sent_and_shown_nowhere() -> None:
    client, asked = failing_with(httpx.ReadError, 0)
    agent = N8nAgent("flow", "http://n8n.test/x", client=client, headers={"X-Key": "k-123"})
    async with serving(agent) as url:
        await send(url, "hi")
        async with httpx.AsyncClient() as http:
            card = (await http.get(f"{url}/.well-known/agent-card.json")).text
    assert asked[0].headers["X-Key"] == "k-123"
    assert "k-123" not in card + repr(agent)


def test_a_wrong_url_is_named() -> None:
    with pytest.raises(LoadError, match="webhook_url"):
        load_agent({"driver": "n8n", "name": "flow", "webhook_url": "n8n.test/x"})
