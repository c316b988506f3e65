"""Streams: partial events as the words come, then the whole text."""

import asyncio
import re
from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event
from google.genai import types

from aion_adk import A2ABridgePlugin

STORY = (
    "A message came in over the wire. The agent read it, thought a while, and began to"
    " answer, a word at a time, so that nobody had to wait for the end to know the beginning."
)
SECONDS_A_WORD = 0.05


class Storyteller(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for word in re.findall(r"\s*\S+", STORY):
            yield self._event(ctx, word, partial=True)
            await asyncio.sleep(SECONDS_A_WORD)
        yield self._event(ctx, STORY)

    def _event(self, ctx: InvocationContext, text: str, *, partial: bool = False) -> Event:
        content = types.Content(role="model", parts=[types.Part(text=text)])
        return Event(
            author=self.name, invocation_id=ctx.invocation_id, content=content, partial=partial
        )


root_agent = Storyteller(name="streaming", description="Tells a short story, word by word.")
app = App(name="streaming", root_agent=root_agent, plugins=[A2ABridgePlugin()])
