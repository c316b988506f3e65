"""What @ag-ui/client lets pass and what it rejects: the reasons for the encoder's rules."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio

from tests.clients.agui_client import HERE, install

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

Json = dict[str, Any]

RUN = {"threadId": "t", "runId": "r"}
STARTED: Json = {"type": "RUN_STARTED", **RUN}
FINISHED: Json = {"type": "RUN_FINISHED", **RUN}
ERROR: Json = {"type": "RUN_ERROR", "message": "no"}
STEP: Json = {"type": "STEP_STARTED", "stepName": "s"}
TEXT: Json = {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"}
TEXT_END: Json = {"type": "TEXT_MESSAGE_END", "messageId": "m"}
CHUNK: Json = {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "hi"}
REASONING: Json = {"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"}
BAD_PATCH: Json = {"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/none"}]}


def call(call_id: str, **fields: Any) -> Json:
    return {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": "f", **fields}


def call_end(call_id: str) -> Json:
    return {"type": "TOOL_CALL_END", "toolCallId": call_id}


def framed(*events: Json, end: str = "\n\n") -> str:
    return "".join(f"data: {json.dumps(event)}{end}" for event in events)


def outcome(**fields: Any) -> Json:
    return {**FINISHED, "outcome": fields}


# name, body, whether 1.0.0 rejects it, whether 0.0.59 does
LINES: list[tuple[str, str, bool, bool]] = [
    ("the first event is no start", framed(STEP), True, True),
    ("the first event is an error", framed(ERROR), False, False),
    ("finished with an open step", framed(STARTED, STEP, FINISHED), True, True),
    ("finished with open text", framed(STARTED, TEXT, FINISHED), True, True),
    ("finished with an open call", framed(STARTED, call("c"), FINISHED), True, True),
    ("finished with open reasoning", framed(STARTED, REASONING, FINISHED), True, False),
    ("an event after the error", framed(STARTED, ERROR, STEP), True, True),
    ("finished after the error", framed(STARTED, ERROR, FINISHED), True, True),
    ("no terminal event", framed(STARTED, STEP), False, False),
    ("a done marker", framed(STARTED, FINISHED) + "data: [DONE]\n\n", True, True),
    ("lines that end with CRLF", framed(STARTED, FINISHED, end="\r\n\r\n"), True, True),
    ("comments", ": ping\n\n" + framed(STARTED, FINISHED), False, False),
    ("event lines", f"event: x\n{framed(STARTED, FINISHED)}", False, False),
    ("null", framed({**STARTED, "parentRunId": None}, FINISHED), True, True),
    ("chunks without an end", framed(STARTED, CHUNK, FINISHED), False, False),
    (
        "two calls at once",
        framed(STARTED, call("a"), call("b"), call_end("a"), call_end("b"), FINISHED),
        False,
        False,
    ),
    ("a patch that does not fit", framed(STARTED, BAD_PATCH, FINISHED), False, False),
    (
        "pending calls",
        framed(STARTED, outcome(type="success", pendingToolCallIds=["c"])),
        False,
        True,
    ),
    ("cancelled", framed(STARTED, outcome(type="cancelled")), False, True),
]
# A charset does no harm.
CONTENT_TYPE = "text/event-stream; charset=utf-8"
NAMES = [line[0] for line in LINES]

MESSAGES: list[tuple[str, str]] = [
    (
        "shared parent",
        framed(
            STARTED,
            call("a", parentMessageId="p"),
            call_end("a"),
            call("b", parentMessageId="p"),
            call_end("b"),
            FINISHED,
        ),
    ),
    ("no parent", framed(STARTED, call("a"), call_end("a"), call("b"), call_end("b"), FINISHED)),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["agui-1", "agui-0"])
async def ended(request: pytest.FixtureRequest) -> AsyncGenerator[Json, None]:
    """How the client's run ended, by the name of the line."""
    await install()
    lines = [*((name, body) for name, body, _, _ in LINES), *MESSAGES]
    answers = [{"body": body, "contentType": CONTENT_TYPE} for _, body in lines]
    process = await asyncio.create_subprocess_exec(
        "node",
        "enforce.mjs",
        request.param,
        cwd=HERE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(json.dumps(answers).encode()), 60)
    names = [name for name, _ in lines]
    yield {"version": request.param, **dict(zip(names, json.loads(out), strict=True))}


@pytest.mark.parametrize("line", LINES, ids=NAMES)
async def test_the_client_rejects_just_what_the_encoder_avoids(
    ended: Json, line: tuple[str, str, bool, bool]
) -> None:
    name, _, by_1, by_0 = line
    rejected = "rejected" in ended[name]
    assert rejected == (by_1 if ended["version"] == "agui-1" else by_0), ended[name]


async def test_calls_with_one_parent_are_one_message_and_without_it_several(ended: Json) -> None:
    assert [message["id"] for message in ended["shared parent"]["messages"]] == ["p"]
    assert [message["id"] for message in ended["no parent"]["messages"]] == ["a", "b"]
