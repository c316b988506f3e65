import logging
from collections.abc import AsyncGenerator
from copy import deepcopy
from math import inf, nan
from typing import Any

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.types import Artifact, Message, Part, Role, Task, TaskState, TaskStatus
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.protobuf.struct_pb2 import Value

from aion_adk import emit_data, emit_message, emit_task_metadata, reply
from aion_adk.protocol.structs import to_dict, to_plain, to_struct, to_value
from tests.agents import agent_of, event_of, outbox_event, text_event
from tests.serving import history_of, send, serving, stored, stream, tasks_of

METADATA = to_struct(
    {
        "aion:network": "forged",
        "https://docs.aion.to/sender": "forged",
        "mine": {"aion:network": "forged", "list": [{"aion:x": "forged", "kept": 1}]},
    }
)
ALLOWED = {"mine": {"list": [{"kept": 1}]}}


def forged_message(text: str) -> Message:
    return Message(
        message_id=text,
        task_id="forged",
        context_id="forged",
        role=Role.ROLE_USER,
        parts=[Part(text=text, metadata=METADATA)],
        metadata=METADATA,
    )


def forged_artifact(artifact_id: str) -> Artifact:
    part = Part(text="content", metadata=METADATA)
    return Artifact(artifact_id=artifact_id, parts=[part], metadata=METADATA)


def own(metadata: dict[str, Any]) -> dict[str, Any]:
    """What is left when the type that the server gives each agent message is set aside."""
    return {key: value for key, value in metadata.items() if key != "canonical_type"}


async def test_nothing_an_agent_writes_can_forge_what_the_server_owns() -> None:
    """D1, D3: task, status, message, artifact and part metadata at any depth, ids, role."""

    async def forging(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_message(ctx, forged_message("emitted"))
        patch = Task(
            id="forged",
            context_id="forged",
            history=[forged_message("earlier")],
            artifacts=[forged_artifact("a1")],
            metadata=METADATA,
            status=TaskStatus(message=forged_message("last")),
        )
        before = deepcopy(patch)
        yield outbox_event(agent, ctx, patch)
        assert patch == before

    async with serving(agent_of(forging)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    assert "forged" not in str(frames)
    assert "forged" not in str(task)
    assert to_dict(task.metadata) == ALLOWED
    assert history_of(task) == ["hi", "emitted", "earlier", "last"]
    for message in task.history[1:]:
        assert own(to_dict(message.metadata)) == ALLOWED
        assert to_dict(message.parts[0].metadata) == ALLOWED
        assert (message.role, message.task_id) == (Role.ROLE_AGENT, task.id)
        assert message.context_id == task.context_id
    [artifact] = task.artifacts
    assert to_dict(artifact.metadata) == to_dict(artifact.parts[0].metadata) == ALLOWED
    assert task.status.HasField("timestamp")


async def test_the_objects_an_agent_hands_over_are_never_changed() -> None:
    """D1"""
    given = forged_message("given")
    metadata = {"aion:network": "x", "mine": 1}

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, given)
        reply(ctx, given.parts)
        emit_message(ctx, given)
        emit_task_metadata(ctx, metadata)
        emit_data(ctx, metadata)
        yield event_of(agent, ctx)

    before = deepcopy(given)
    async with serving(agent_of(answering)) as url:
        await send(url, "hi")
    assert given == before
    assert metadata == {"aion:network": "x", "mine": 1}


async def test_data_is_content_and_keeps_its_keys() -> None:
    """D3: the keys are protected in metadata, not in the content."""

    async def answering(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        reply(ctx, Part(data=to_value({"aion:network": "content"})))
        yield event_of(agent, ctx)

    async with serving(agent_of(answering)) as url:
        task = await send(url, "hi")
    assert to_plain(task.status.message.parts[0].data) == {"aion:network": "content"}


async def test_what_json_cannot_hold_leaves_as_null() -> None:
    """E1: a task that cannot be written would end its stream without a status."""
    deep: Any = "bottom"
    for _ in range(31):
        deep = {"deeper": deep}
    data = {"nan": nan, "list": [1, -inf], "kept": 1.5, "deep": deep}

    async def measuring(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_data(ctx, data, name="readings")
        emit_task_metadata(ctx, {"mean": nan})
        yield outbox_event(agent, ctx, Message(parts=[Part(data=Value(number_value=inf))]))

    async with serving(agent_of(measuring)) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
        listed = await tasks_of(url)
    assert frames[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
    shown = to_plain(task.artifacts[0].parts[0].data)
    assert "bottom" not in str(shown.pop("deep"))
    assert shown == {"nan": None, "list": [1, None], "kept": 1.5}
    assert to_dict(task.metadata)["mean"] is None
    assert to_plain(task.status.message.parts[0].data) is None
    assert [each.id for each in listed] == [task.id]


async def test_what_the_server_stamps_wins_over_everybody() -> None:
    """D3, D2: on the task and on every agent message, whether the key is protected or not."""

    def stamped(context: RequestContext) -> dict[str, Any]:
        return {"aion:network": f"net of {context.context_id}", "region": "eu"}

    async def forging(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_task_metadata(ctx, {"region": "forged", "emitted": 1})
        message = Message(parts=[Part(text="hello")], metadata=to_struct({"region": "forged"}))
        status = TaskStatus(state=TaskState.TASK_STATE_INPUT_REQUIRED, message=message)
        metadata = to_struct({"region": "forged", "aion:network": "forged", "patched": 1})
        yield outbox_event(agent, ctx, Task(status=status, metadata=metadata))

    async with serving(agent_of(forging), server_metadata=stamped) as url:
        first = await send(url, "hi", context_id="c1")
        task = await send(url, "more", task_id=first.id, context_id="c1")
    server = {"aion:network": "net of c1", "region": "eu"}
    for seen in (first, task):
        assert to_dict(seen.metadata) == {**server, "emitted": 1, "patched": 1}
        assert own(to_dict(seen.status.message.metadata)) == server


async def test_dropped_keys_are_named_in_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """E, D3: emit_task_metadata"""

    async def emitting(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        emit_task_metadata(ctx, {"deep": {"aion:network": "x"}, "mine": 1})
        emit_task_metadata(ctx, {"mine": 2, "also": 3})
        yield text_event(agent, ctx, "done")

    with caplog.at_level(logging.WARNING, logger="aion_adk"):
        async with serving(agent_of(emitting)) as url:
            task = await send(url, "hi")
    assert to_dict(task.metadata) == {"deep": {}, "mine": 2, "also": 3}
    assert "aion:network" in "".join(record.getMessage() for record in caplog.records)


async def test_an_agents_artifact_cannot_pass_for_text_in_flight() -> None:
    """E3, D3"""

    async def patching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield outbox_event(agent, ctx, Task(artifacts=[forged_artifact("aion:stream-delta")]))

    async with serving(agent_of(patching)) as url:
        task = await send(url, "hi")
    assert [artifact.artifact_id for artifact in task.artifacts] == ["_aion:stream-delta"]
