"""A CrewAI crew as an agent: a writer, then an editor.

The model is a scripted one that needs no key; give the agents a real `llm` in its place.
"""

from typing import Any

from google.adk.apps import App

from aion_adk import A2ABridgePlugin
from aion_adk.drivers import CallableAgent

NAME = "crewai_crew"

try:
    from crewai import Agent, Crew, Task
    from crewai.llms.base_llm import BaseLLM, llm_call_context

    from aion_adk.drivers import CrewAIAgent
except ImportError:
    root_agent = CallableAgent(
        NAME, lambda text: "This sample needs CrewAI: pip install 'aion-adk[crewai]'"
    )
else:

    class Scripted(BaseLLM):
        words: str = ""

        def call(self, messages: Any, *args: Any, **options: Any) -> str:
            with llm_call_context():
                for word in ("Final Answer: ", *self.words.split(" ")):
                    if self.stream:
                        self._emit_stream_chunk_event(
                            chunk=word if word.endswith(": ") else f"{word} ",
                            from_task=options.get("from_task"),
                            from_agent=options.get("from_agent"),
                        )
            return f"Final Answer: {self.words}"

        def supports_function_calling(self) -> bool:
            return False

    def member(role: str, words: str) -> Agent:
        llm = Scripted(model="scripted", words=words)
        return Agent(role=role, goal="a good text", backstory="An old hand.", llm=llm)

    writer = member("writer", "A first draft, a little long.")
    editor = member("editor", "A short and true text.")
    tasks = [
        Task(description="Write about {inputs}.", expected_output="a draft", agent=writer),
        Task(description="Edit the draft.", expected_output="a text", agent=editor),
    ]
    crew = Crew(agents=[writer, editor], tasks=tasks, stream=True)
    root_agent = CrewAIAgent(NAME, crew, description="Writes and edits a short text.")

app = App(name=NAME, root_agent=root_agent, plugins=[A2ABridgePlugin()])
