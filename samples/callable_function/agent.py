"""A Python generator as an agent: what it yields is streamed, what it emits is an artifact."""

from collections import Counter
from collections.abc import Iterator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App

from aion_adk import A2ABridgePlugin, emit_data
from aion_adk.drivers import CallableAgent


def count_words(text: str, ctx: InvocationContext) -> Iterator[str]:
    counts = Counter(text.lower().split())
    yield f"{counts.total()} words. "
    emit_data(ctx, dict(counts), name="counts")
    for word, count in counts.most_common(3):
        yield f"{word}: {count}. "


root_agent = CallableAgent(
    "callable_function", count_words, description="Counts the words of a message."
)
app = App(name="callable_function", root_agent=root_agent, plugins=[A2ABridgePlugin()])
