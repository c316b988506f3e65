"""Reads the inbox: what was sent, by whom, in which task."""

from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event
from google.genai import types

from aion_adk import A2ABridgePlugin, inbox_of


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        inbox = inbox_of(ctx)
        text = "".join(part.text for part in inbox.message.parts)
        lines = [f"You said: {text}", f"You are: {inbox.user_id}"]
        lines += [f"{key}: {value}" for key, value in inbox.metadata.items()]
        content = types.Content(role="model", parts=[types.Part(text="\n".join(lines))])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = Echo(name="echo", description="Says back what it gets, and who sent it.")
app = App(name="echo", root_agent=root_agent, plugins=[A2ABridgePlugin()])
