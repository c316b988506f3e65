from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from aion_adk.protocol.structs import to_dict
from tests.agents import Behaviour, agent_of, event_of, in_parallel
from tests.models import ScriptedModel, call, text
from tests.serving import send, serving, stored, stream


def saving(*names: str) -> Behaviour:
    """Saves a file under each name, one event each."""

    async def save(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert ctx.artifact_service
        for number, name in enumerate(names):
            blob = types.Blob(data=f"{agent.name}{number}".encode(), mime_type="text/csv")
            version = await ctx.artifact_service.save_artifact(
                app_name=ctx.app_name,
                user_id=ctx.user_id,
                session_id=ctx.session.id,
                filename=name,
                artifact=types.Part(inline_data=blob),
            )
            yield event_of(agent, ctx, actions=EventActions(artifact_delta={name: version}))

    return save


async def test_files_that_an_agent_saves_are_artifacts() -> None:
    """E6: stable id, filename and MIME type kept, a new version replaces."""
    async with serving(agent_of(saving("a.csv", "a.csv", "user:b.csv"))) as url:
        frames = await stream(url, "hi")
        task = await stored(url, frames[0].task.id)
    updates = [frame.artifact_update for frame in frames if frame.HasField("artifact_update")]
    assert [(u.artifact.artifact_id, to_dict(u.artifact.metadata)) for u in updates] == [
        ("a.csv", {"version": 0}),
        ("a.csv", {"version": 1}),
        ("user:b.csv", {"version": 0}),
    ]
    assert [(a.name, a.parts[0].filename, a.parts[0].raw) for a in task.artifacts] == [
        ("a.csv", "a.csv", b"agent1"),
        ("user:b.csv", "b.csv", b"agent2"),
    ]
    assert {a.parts[0].media_type for a in task.artifacts} == {"text/csv"}


async def test_files_saved_by_tools_of_parallel_branches_are_all_there() -> None:
    """E6"""

    async def save(filename: str, tool_context: ToolContext) -> str:
        """Saves a file."""
        blob = types.Blob(data=filename.encode(), mime_type="image/png")
        await tool_context.save_artifact(filename, types.Part(inline_data=blob))
        return "saved"

    def branch(name: str) -> BaseAgent:
        steps = [[call("save", call_id=name, filename=f"{name}.png")], [text(name)]]
        return LlmAgent(name=name, model=ScriptedModel(steps=steps), tools=[save])

    async with serving(in_parallel(branch("left"), branch("right"))) as url:
        task = await send(url, "hi")
    saved = {a.artifact_id: (a.parts[0].raw, a.parts[0].media_type) for a in task.artifacts}
    assert saved == {
        "left.png": (b"left.png", "image/png"),
        "right.png": (b"right.png", "image/png"),
    }
