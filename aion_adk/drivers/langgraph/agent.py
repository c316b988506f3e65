"""A compiled LangGraph graph as an agent."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, ClassVar, Unpack, cast

from google.adk.agents.invocation_context import InvocationContext
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from langgraph.pregel import Pregel
from langgraph.types import Command, Interrupt
from pydantic import Field
from typing_extensions import override

from aion_adk.context.outbox import OUTBOX_KEY, A2AOutbox
from aion_adk.drivers.driver import DriverItem
from aion_adk.drivers.inputs import InputOptions, MappedInputDriver, conversation_id, inbox_or_none
from aion_adk.drivers.langchain_messages import messages_before_turn, request_messages
from aion_adk.drivers.langgraph.context import AionContext, GraphInbox, aion_context
from aion_adk.drivers.langgraph.graph_run import GraphRun
from aion_adk.drivers.langgraph.state import (
    BREAKPOINT,
    INBOX,
    MESSAGES,
    EarlierState,
    agent_messages_in,
    answers_in,
    outbox_in,
    pause_event,
)
from aion_adk.errors import TaskFailed

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
    runtime context if its schema is not AionContext.
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
    def _has_checkpointer(self) -> bool:
        return bool(self.graph.checkpointer)

    @override
    async def _answer(self, ctx: InvocationContext) -> AsyncGenerator[DriverItem, None]:
        configurable = {**self.config.get("configurable", {}), "thread_id": conversation_id(ctx)}
        config = cast(RunnableConfig, {**self.config, "configurable": configurable})
        snapshot = await self.graph.aget_state(config) if self._has_checkpointer else None
        earlier = EarlierState(snapshot)
        run = GraphRun(ctx, known_messages=earlier.message_ids)
        stream: AsyncGenerator[Any, None] = self.graph.astream(
            await self._graph_input(ctx, earlier),
            config,
            context=self._runtime_context(ctx),
            stream_mode=list(_MODES),
            subgraphs=True,
        )
        async with aclosing(stream):
            async for namespace, mode, payload in stream:
                for item in run.on_stream_item(namespace, mode, payload):
                    yield item
        outbox = None if run.paused else outbox_in(run.values)
        if outbox is not None:
            await self._add_to_messages(config, outbox, run)
        for event in run.final_events(outbox=outbox, output_key=self.output_key):
            yield event
        if not run.paused:
            return
        if not self._has_checkpointer:
            raise TaskFailed(
                "The graph asked for input with interrupt(), but it was compiled without a"
                " checkpointer and cannot go on later."
            )
        if not run.interrupts:
            nodes = " and ".join((await self.graph.aget_state(config)).next)
            prompt = f"The graph paused before {nodes}. Go on?"
            run.interrupts.append(Interrupt(value=prompt, id=BREAKPOINT))
        yield pause_event(ctx, run.interrupts)

    async def _graph_input(self, ctx: InvocationContext, earlier: EarlierState) -> Any:
        answers = answers_in(ctx)
        if BREAKPOINT in answers and earlier.at_breakpoint:
            return None
        resumed = {key: value for key, value in answers.items() if key in earlier.interrupt_ids}
        if resumed:
            return Command(resume=resumed)
        if answers:
            raise TaskFailed("The graph no longer waits for this answer.")
        given = await self._input(ctx)
        if not isinstance(given, Mapping):
            return given
        values = {**cast(Mapping[str, Any], given)}
        messages = values.get(MESSAGES)
        if isinstance(messages, list):
            # A message is appended once, however often its caller sends it.
            items, known = cast(list[Any], messages), earlier.message_ids
            values[MESSAGES] = [item for item in items if getattr(item, "id", None) not in known]
        inbox = inbox_or_none(ctx)
        if inbox and self._has_channel(INBOX):
            values[INBOX] = GraphInbox(
                task=inbox.task, message=inbox.message, metadata=dict(inbox.metadata)
            )
        if earlier.has_outbox:
            # An outbox of an earlier turn was sent then.
            values[OUTBOX_KEY] = None
        return values

    @override
    def _plain_input(self, ctx: InvocationContext, text: str) -> Any:
        if self.input_key not in ("", MESSAGES) or not self._has_channel(MESSAGES):
            return {self.input_key or "input": text}
        earlier = [] if self._has_checkpointer else messages_before_turn(ctx)
        return {MESSAGES: earlier + request_messages(ctx)}

    async def _add_to_messages(
        self, config: RunnableConfig, outbox: A2AOutbox, run: GraphRun
    ) -> None:
        """Appends the outbox's messages to the state's, which an LLM reads in the next turn."""
        if not (self._has_checkpointer and self._has_channel(MESSAGES) and run.last_node):
            return
        messages = [
            AIMessage(
                content="\n".join(part.text for part in message.parts if part.text),
                id=message.message_id,
            )
            for message in agent_messages_in(outbox)
        ]
        try:
            await self.graph.aupdate_state(config, {MESSAGES: messages}, as_node=run.last_node)
        except InvalidUpdateError:
            logger.warning("%s: the outbox could not be added to the state's messages", self.name)

    def _has_channel(self, channel: str) -> bool:
        return channel in self.graph.channels

    def _runtime_context(self, ctx: InvocationContext) -> Any:
        if self.context is not None:
            return self.context(ctx)
        schema = self.graph.context_schema
        if not (isinstance(schema, type) and issubclass(schema, AionContext)):
            return None
        return aion_context(ctx, agent=self)
