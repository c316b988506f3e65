"""Answers through the outbox: a message, or a patch to the task when asked for a "task"."""

from collections.abc import AsyncGenerator

from a2a.types import Artifact, Message, Part, Role, Task
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event, EventActions
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from aion_adk import A2ABridgePlugin, A2AOutbox, inbox_of


def weather_message() -> Message:
    forecast = ParseDict({"city": "Paris", "celsius": 21}, Value())
    text = "Sunny in Paris. Ask for a task to get it as an artifact."
    return Message(role=Role.ROLE_AGENT, parts=[Part(text=text), Part(data=forecast)])


def weather_task() -> Task:
    metadata = Struct()
    metadata.update({"source": "samples/outbox"})
    forecast = ParseDict({"city": "Paris", "celsius": 21}, Value())
    return Task(
        history=[Message(role=Role.ROLE_AGENT, parts=[Part(text="The forecast is attached.")])],
        artifacts=[Artifact(artifact_id="forecast", name="forecast", parts=[Part(data=forecast)])],
        metadata=metadata,
    )


class Weather(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        text = "".join(part.text for part in inbox_of(ctx).message.parts)
        if "task" in text.lower():
            outbox = A2AOutbox(task=weather_task())
        else:
            outbox = A2AOutbox(message=weather_message())
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            actions=EventActions(state_delta={"a2a_outbox": outbox}),
        )


root_agent = Weather(name="outbox", description="Answers with a message or with a task patch.")
app = App(name="outbox", root_agent=root_agent, plugins=[A2ABridgePlugin()])
