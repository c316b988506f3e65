from collections.abc import AsyncGenerator

import pytest
from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event

from aion_adk import emit_message, reply
from aion_adk.protocol.canonical import (
    CANONICAL_TYPE,
    CanonicalType,
    canonical_type_of,
    declare_canonical_type,
)
from aion_adk.protocol.from_genai import data_part
from aion_adk.protocol.structs import to_struct
from tests.agents import text_event
from tests.serving import serving, stream

TEXT = Part(text="hello")
THOUGHT = Part(text="hmm", metadata=to_struct({"adk_thought": True}))
FILE = Part(url="https://example.com/a.png", media_type="image/png")
CALLS = data_part({"tool_calls": [{"call_id": "c", "name": "f", "arguments": {}}]})
RESULTS = data_part({"tool_results": [{"call_id": "c", "name": "f", "output": 1}]})
ADK_CALL = data_part({"id": "c", "name": "f", "args": {}}, adk_type="function_call")
ADK_RESPONSE = data_part({"id": "c", "response": {}}, adk_type="function_response")

USER, AGENT = Role.ROLE_USER, Role.ROLE_AGENT


@pytest.mark.parametrize(
    ("role", "parts", "final", "chunk"),
    [
        (USER, [TEXT], CanonicalType.TEXT_CONTENT, CanonicalType.TEXT_CONTENT),
        (USER, [FILE], CanonicalType.TEXT_CONTENT, CanonicalType.TEXT_CONTENT),
        (USER, [RESULTS], CanonicalType.TOOL_CALL_RESULT, CanonicalType.TOOL_CALL_RESULT),
        (AGENT, [TEXT], CanonicalType.TEXT_END, CanonicalType.TEXT_CHUNK),
        (AGENT, [THOUGHT, TEXT], CanonicalType.TEXT_END, CanonicalType.TEXT_CHUNK),
        (AGENT, [THOUGHT], CanonicalType.REASONING, CanonicalType.REASONING),
        (AGENT, [FILE, TEXT], CanonicalType.TEXT_END, CanonicalType.TEXT_CHUNK),
        (AGENT, [FILE], CanonicalType.ACTIVITY, CanonicalType.ACTIVITY),
        (AGENT, [CALLS], CanonicalType.TOOL_CALL_START, CanonicalType.TOOL_CALL_ARGS),
        (AGENT, [TEXT, ADK_CALL], CanonicalType.TOOL_CALL_START, CanonicalType.TOOL_CALL_ARGS),
        (AGENT, [ADK_RESPONSE], CanonicalType.TOOL_CALL_RESULT, CanonicalType.TOOL_CALL_RESULT),
    ],
)
def test_a_message_is_stamped_by_its_parts_and_a_chunk_as_a_chunk(
    role: Role, parts: list[Part], final: CanonicalType, chunk: CanonicalType
) -> None:
    whole, piece = Message(role=role, parts=parts), Message(role=role, parts=parts)
    declare_canonical_type(whole)
    declare_canonical_type(piece, chunk=True)
    assert (canonical_type_of(whole), canonical_type_of(piece)) == (final, chunk)


def test_a_message_that_calls_itself_a_chunk_stays_one_and_a_wrong_type_does_not() -> None:
    chunk = Message(role=AGENT, parts=[TEXT], metadata=to_struct({CANONICAL_TYPE: "X"}))
    declare_canonical_type(chunk)
    assert canonical_type_of(chunk) == CanonicalType.TEXT_END
    chunk.metadata.update({CANONICAL_TYPE: CanonicalType.TEXT_CHUNK})
    declare_canonical_type(chunk)
    assert canonical_type_of(chunk) == CanonicalType.TEXT_CHUNK


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (TaskState.TASK_STATE_SUBMITTED, CanonicalType.RUN_STARTED),
        (TaskState.TASK_STATE_WORKING, CanonicalType.STEP_STARTED),
        (TaskState.TASK_STATE_INPUT_REQUIRED, CanonicalType.STEP_FINISHED),
        (TaskState.TASK_STATE_AUTH_REQUIRED, CanonicalType.STEP_FINISHED),
        (TaskState.TASK_STATE_COMPLETED, CanonicalType.RUN_FINISHED),
        (TaskState.TASK_STATE_FAILED, CanonicalType.RUN_ERROR),
        (TaskState.TASK_STATE_REJECTED, CanonicalType.RUN_ERROR),
        (TaskState.TASK_STATE_CANCELED, CanonicalType.RUN_ERROR),
    ],
)
def test_a_status_has_the_type_of_its_state(state: TaskState, expected: CanonicalType) -> None:
    assert canonical_type_of(TaskStatusUpdateEvent(status=TaskStatus(state=state))) == expected


def test_a_task_starts_a_run_and_an_artifact_is_an_activity_or_text_in_flight() -> None:
    named = TaskArtifactUpdateEvent(artifact=Artifact(artifact_id="report"))
    delta = TaskArtifactUpdateEvent(artifact=Artifact(artifact_id="aion:stream-delta"))
    assert canonical_type_of(Task()) == CanonicalType.RUN_STARTED
    assert canonical_type_of(named) == CanonicalType.ACTIVITY
    assert canonical_type_of(delta) == CanonicalType.TEXT_CHUNK


class Answering(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, "in ", partial=True)
        yield text_event(self, ctx, "flight", partial=True)
        emit_message(ctx, "on the way")
        reply(ctx, "first")
        reply(ctx, "second")


async def test_every_agent_message_that_leaves_carries_its_canonical_type() -> None:
    async with serving(Answering(name="answering")) as url:
        frames = await stream(url, "go")
    messages = [
        frame.status_update.status.message
        for frame in frames
        if frame.status_update.status.HasField("message")
    ]
    chunks = [frame.artifact_update for frame in frames if frame.HasField("artifact_update")]
    assert [dict(message.metadata) for message in messages] == [
        {CANONICAL_TYPE: "TextMessageEndEvent"}
    ] * 3
    assert dict(chunks[0].artifact.metadata) == {CANONICAL_TYPE: "TextMessageChunkEvent"}
