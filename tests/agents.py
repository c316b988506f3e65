"""What small agents in tests say."""

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types


def said(agent: BaseAgent, ctx: InvocationContext, text: str, *, partial: bool = False) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(
        author=agent.name, invocation_id=ctx.invocation_id, content=content, partial=partial
    )
