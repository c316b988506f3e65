"""Anything with `invoke(user_input, context_id)` as an agent, with `stream` and `close` too."""

from collections import defaultdict
from collections.abc import AsyncIterator

from google.adk.apps import App

from aion_adk import A2ABridgePlugin
from aion_adk.drivers import AdapterAgent


class Notebook:
    """Keeps the notes of each conversation."""

    def __init__(self) -> None:
        self.notes: defaultdict[str, list[str]] = defaultdict(list)

    async def invoke(self, user_input: str, context_id: str) -> str:
        return "".join([line async for line in self.stream(user_input, context_id)])

    async def stream(self, user_input: str, context_id: str) -> AsyncIterator[str]:
        self.notes[context_id].append(user_input)
        for number, note in enumerate(self.notes[context_id], start=1):
            yield f"{number}. {note}\n"

    async def close(self) -> None:
        self.notes.clear()


root_agent = AdapterAgent("adapter_object", Notebook(), description="Keeps notes.")
app = App(name="adapter_object", root_agent=root_agent, plugins=[A2ABridgePlugin()])
