"""A compiled LangGraph graph as an agent."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, ClassVar, Unpack, cast

from google.adk.agents.invocation_context import InvocationContext
from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from langgraph.pregel import Pregel
from langgraph.types import Command
from pydantic import Field
from typing_extensions import override

from aion_adk.drivers.driver import Answered
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver
from aion_adk.drivers.langgraph.context import (
    AgentIdentity,
    AionContext,
    context_of,
    inbox_for_state,
)
from aion_adk.drivers.langgraph.pauses import BREAKPOINT, answers_in, breakpoint_at, pause_event
from aion_adk.drivers.langgraph.run import GraphRun
from aion_adk.drivers.langgraph.state import (
    INBOX,
    MESSAGES,
    Before,
    as_ai_messages,
    before_of,
    outbox_in,
    replies_of,
)
from aion_adk.drivers.messages import conversation, human_message
from aion_adk.drivers.request import conversation_id
from aion_adk.errors import TaskFailed
from aion_adk.outbox import OUTBOX_KEY, A2AOutbox

logger = logging.getLogger(__name__)

Graph = Pregel[Any, Any, Any, Any]

_MODES = ("values", "messages", "custom", "updates")


class LangGraphOptions(InputOptions, total=False):
    """Keyword options of LangGraphAgent."""

    input_key: str
    output_key: str | None
    config: RunnableConfig
    context: Callable[[InvocationContext], Any] | None


class LangGraphAgent(MappedInputDriver):
    """Streams a compiled graph: its messages as text, its interrupts as requests for input.

    Where the state has `messages`, the request is one HumanMessage in it; `input_key` names
    another key. The answer is `a2a_outbox` if the graph sets it, else the value of
    `output_key` if one is given, else the last AIMessage. With a checkpointer the graph
    remembers the conversation, without one the ADK session does. `context` makes the graph's
    runtime context where its schema is not AionContext.
    """

    references: ClassVar[frozenset[str]] = frozenset({"graph", "context"})

    graph: Any
    input_key: str = ""
    output_key: str | None = None
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    context: Callable[[InvocationContext], Any] | None = None

    def __init__(self, name: str, graph: Graph, **options: Unpack[LangGraphOptions]) -> None:
        if not isinstance(cast(object, graph), Pregel):
            kind = type(graph).__name__
            raise TypeError(f"expected a compiled graph, got {kind}: call its compile() first")
        super().__init__(name=name, graph=graph, **options)

    @property
    def _remembers(self) -> bool:
        return bool(self.graph.checkpointer)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[Answered, None]:
        config = self._config_of(ctx)
        snapshot = await self.graph.aget_state(config) if self._remembers else None
        before = before_of(snapshot)
        run = GraphRun(ctx, known_messages=before.message_ids)
        stream: AsyncGenerator[Any, None] = self.graph.astream(
            await self._graph_input(ctx, before),
            config,
            context=self._context_of(ctx),
            stream_mode=list(_MODES),
            subgraphs=True,
        )
        async with aclosing(stream):
            async for namespace, mode, payload in stream:
                for item in run.hear(namespace, mode, payload):
                    yield item
        outbox = None if run.paused else outbox_in(run.values)
        if outbox is not None:
            await self._remember(config, outbox, run)
        for event in run.end(outbox=outbox, output_key=self.output_key):
            yield event
        if run.paused:
            yield await self._pause(ctx, config, run)

    async def _graph_input(self, ctx: InvocationContext, before: Before) -> Any:
        answers = answers_in(ctx)
        if BREAKPOINT in answers and before.at_breakpoint:
            return None
        resumed = {key: value for key, value in answers.items() if key in before.interrupts}
        if resumed:
            return Command(resume=resumed)
        if answers:
            raise TaskFailed("The graph no longer waits for this answer.")
        given = await self._input(ctx)
        if not isinstance(given, Mapping):
            return given
        return {
            **cast(Mapping[str, Any], given),
            **self._without_known(given, before),
            **self._carriers(ctx, before),
        }

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        if self.input_key not in ("", MESSAGES) or not self._has(MESSAGES):
            return {self.input_key or "input": text}
        request = human_message(ctx)
        earlier = [] if self._remembers else conversation(ctx)
        return {MESSAGES: [*earlier, *([request] if request else [])]}

    def _without_known(self, given: Any, before: Before) -> dict[str, Any]:
        """A message is appended once, however often its caller sends it."""
        messages = given.get(MESSAGES)
        if not isinstance(messages, list) or not before.message_ids:
            return {}
        items = cast(list[Any], messages)
        return {MESSAGES: [m for m in items if getattr(m, "id", None) not in before.message_ids]}

    def _carriers(self, ctx: InvocationContext, before: Before) -> dict[str, Any]:
        carriers: dict[str, Any] = {}
        if self._has(INBOX) and (inbox := inbox_for_state(ctx)):
            carriers[INBOX] = inbox
        if before.has_outbox:
            # An outbox of an earlier turn was sent then.
            carriers[OUTBOX_KEY] = None
        return carriers

    async def _pause(self, ctx: InvocationContext, config: RunnableConfig, run: GraphRun) -> Any:
        if not self._remembers:
            raise TaskFailed(
                "The graph asked for input with interrupt(), but it was compiled without a"
                " checkpointer and cannot go on later."
            )
        if run.interrupts:
            return pause_event(ctx, run.interrupts)
        snapshot = await self.graph.aget_state(config)
        return pause_event(ctx, [breakpoint_at(snapshot.next)])

    async def _remember(self, config: RunnableConfig, outbox: A2AOutbox, run: GraphRun) -> None:
        """Appends what the outbox says to the state's messages, which an LLM reads next time."""
        if not (self._remembers and self._has(MESSAGES) and run.last_node):
            return
        said = as_ai_messages(replies_of(outbox))
        try:
            await self.graph.aupdate_state(config, {MESSAGES: said}, as_node=run.last_node)
        except InvalidUpdateError:
            logger.warning("%s: the outbox could not be added to the state's messages", self.name)

    def _has(self, channel: str) -> bool:
        return channel in self.graph.channels

    def _config_of(self, ctx: InvocationContext) -> RunnableConfig:
        given = self.config
        configurable = {**given.get("configurable", {}), "thread_id": conversation_id(ctx)}
        return cast(RunnableConfig, {**given, "configurable": configurable})

    def _context_of(self, ctx: InvocationContext) -> Any:
        if self.context is not None:
            return self.context(ctx)
        schema = self.graph.context_schema
        if not (isinstance(schema, type) and issubclass(schema, AionContext)):
            return None
        identity = AgentIdentity(
            name=self.name,
            display_name=self.display_name or self.name,
            description=self.description,
        )
        return context_of(ctx, identity=identity)
