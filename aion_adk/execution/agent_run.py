"""One run of an ADK agent: what it is given, its events as they come, and how it went."""

import asyncio
import copy
import logging
from contextlib import aclosing

from a2a.server.agent_execution import RequestContext
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskState
from google.adk.agents.run_config import (
    StreamingMode,  # pyright: ignore[reportPrivateImportUsage]  # ADK documents it from here
)
from google.adk.events import Event
from google.adk.runners import Runner
from google.genai import types
from google.protobuf.struct_pb2 import Struct

from aion_adk import timeouts
from aion_adk.context.client_tools import CLIENT_SIDE
from aion_adk.context.inbox import A2AInbox, without_credentials
from aion_adk.context.turn import Turn, current_turn
from aion_adk.errors import BridgeError
from aion_adk.execution.activity import THOUGHTS, TOOL_ACTIVITY, Activity
from aion_adk.execution.adk_session import (
    Caller,
    begin_session,
    events_of,
    last_agent_parts,
    saved_file,
)
from aion_adk.execution.exit_guard import AgentExit, contained_exits
from aion_adk.execution.options import RunOptions
from aion_adk.execution.outcome import AgentContent, Outcome, compile_outcome, final_parts, is_final
from aion_adk.execution.pauses.calls import PendingCalls, resume_messages
from aion_adk.execution.publisher import Publisher, TurnQueue
from aion_adk.protocol.from_genai import agent_message, genai_parts
from aion_adk.protocol.stamp import TaskQueue, join_history, new_id
from aion_adk.protocol.structs import to_dict, to_struct

logger = logging.getLogger(__name__)


class AgentErrorEvent(BridgeError):
    """The agent yielded an event with an error code."""


class RunTimeout(BridgeError):
    """The run exceeded its deadline."""


class AgentRun:
    """Runs the agent for one request and publishes what comes out of it to the queue."""

    def __init__(
        self,
        runner: Runner,
        options: RunOptions,
        context: RequestContext,
        caller: Caller,
        queue: TaskQueue,
        *,
        may_be_direct: bool,
    ) -> None:
        mode = StreamingMode.SSE if queue.streaming else StreamingMode.NONE
        wanted = context.requested_extensions
        self._runner = runner
        self._options = options
        self._run_config = options.every_run_config.model_copy(update={"streaming_mode": mode})
        self._context = context
        self._caller = caller
        self._stamp = queue.stamp
        tools = options.tool_activity or TOOL_ACTIVITY in wanted
        thoughts = options.thoughts or THOUGHTS in wanted
        self._activity = Activity(tools=tools, thoughts=thoughts) if tools or thoughts else None
        self._content = AgentContent()
        self._pending = PendingCalls()
        self._failed_nodes: dict[str, Event] = {}
        self.task = self._task_at_work()
        artifact_ids = [artifact.artifact_id for artifact in self.task.artifacts]
        self._publisher = Publisher(queue, artifact_ids=artifact_ids, may_be_direct=may_be_direct)
        self._outgoing = TurnQueue(self._publisher, task_id=self._stamp.task_id)
        self._turn = Turn(
            inbox=self._inbox(),
            outgoing=self._outgoing,
            message_ids={
                self.task.status.message.message_id,
                *(message.message_id for message in self.task.history),
            },
            session_id=self._caller.session_id,
            client=context.call_context.state.get(CLIENT_SIDE),
        )

    @property
    def chunks(self) -> int:
        """How many chunks of text were streamed."""
        return self._publisher.chunks

    async def run(self, content: types.Content) -> Outcome:
        """Runs the agent to its end, its deadline or its cancellation."""
        timeout = self._options.run_timeout
        token = current_turn.set(self._turn)
        try:
            with contained_exits():
                agent = asyncio.create_task(self._run_agent(content))
        finally:
            current_turn.reset(token)
        try:
            done, _ = await asyncio.wait({agent}, timeout=timeout)
        except asyncio.CancelledError:
            await self._abort(agent)
            raise
        if not done:
            await self._abort(agent)
            raise RunTimeout(f"the run took longer than {timeout} s")
        if agent.cancelled():
            raise AgentExit("the agent cancelled its own run")
        agent.result()
        return await self._outcome()

    async def close(self) -> None:
        """Sends what is queued and ends the open sections; the agent can send nothing more."""
        await self._outgoing.close()
        await self._publisher.end_sections()

    async def conclude(self, outcome: Outcome) -> None:
        await self.close()
        if self._activity and (usage := self._activity.usage_metadata):
            usage.MergeFrom(outcome.metadata or Struct())
            outcome.metadata = usage
        await self._publisher.conclude(outcome)

    async def _run_agent(self, content: types.Content) -> None:
        if client := self._turn.client:
            await begin_session(self._runner, self._caller, client)
        steps = [content]
        if responses := _responses_in(content):
            # ADK takes answers in portions: those of one agent at a time.
            steps = resume_messages(responses, await events_of(self._runner, self._caller))
        for step in steps:
            if responses:
                self._pending.on_responses(_responses_in(step))
            await self._run_step(step)

    async def _run_step(self, content: types.Content) -> None:
        events = self._runner.run_async(
            user_id=self._caller.user_id,
            session_id=self._caller.session_id,
            new_message=content,
            state_delta=self._turn.client.state if self._turn.client else None,
            run_config=self._run_config,
            abort_signal=self._turn.abort,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    await self._on_event(event)
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:
            raise AgentExit(f"the agent raised {type(error).__name__}") from error
        if self._failed_nodes:
            raise AgentErrorEvent(", ".join(map(_error_of, self._failed_nodes.values())))

    async def _on_event(self, event: Event) -> None:
        self._check_error(event)
        outgoing = self._content.on_event(event)
        if not event.partial:
            self._pending.on_event(event)
        if self._activity:
            outgoing += self._activity.on_event(event)
        if (
            self._options.native_content == "buffer"
            and is_final(event)
            and (parts := final_parts(event))
        ):
            self._turn.buffer.append(self._turn.with_own_id(agent_message(parts)))
        await self._outgoing.send(*outgoing)
        for filename, version in event.actions.artifact_delta.items():
            artifact = await saved_file(
                self._runner, self._caller, filename=filename, version=version
            )
            if artifact:
                await self._outgoing.send(
                    TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True)
                )

    def _check_error(self, event: Event) -> None:
        """Fails on an error event, at the end of the run if the agent is a node of a workflow.

        ADK announces each failed attempt of a node with such an event; the node may be tried
        again and say more, and if it is not, the exception itself follows. What a function says
        bears the name of its workflow: there it is always an announcement.
        """
        path = event.node_info.path
        if event.error_code and not path:
            raise AgentErrorEvent(_error_of(event))
        if event.error_code and path.rpartition("/")[2].partition("@")[0] == event.author:
            self._failed_nodes[path] = event
        elif event.content or event.output is not None:
            self._failed_nodes.pop(path, None)

    async def _abort(self, agent: asyncio.Task[None]) -> None:
        """Stops the agent, tools included; one that will not stop is left to itself."""
        self._turn.abort.set()
        if not await timeouts.cancel_and_wait(agent, within=timeouts.SECONDS_TO_END_AGENT):
            logger.warning("task %s: the agent does not stop when cancelled", self.task.id)

    async def _outcome(self) -> Outcome:
        turn, outbox = self._turn, self._turn.outbox
        fallback = None
        if not turn.buffer and outbox is None and not self._pending.calls:
            fallback = await self._fallback()
        patched = outbox is not None and outbox.task is not None and bool(outbox.task.artifacts)
        beside_artifacts = bool(self._publisher.artifact_ids) or patched
        return compile_outcome(
            buffer=turn.buffer,
            outbox=outbox,
            fallback=fallback,
            known_ids=turn.message_ids,
            pending=self._pending,
            as_artifact=self._options.reply_as == "artifact"
            or (self._stamp.for_adk_client and beside_artifacts),
        )

    async def _fallback(self) -> Message | None:
        parts = self._content.parts or await last_agent_parts(
            self._runner, self._caller, self._turn.invocation_ids
        )
        if parts:
            return agent_message(parts, message_id=self._content.message_id or new_id())
        return self._turn.last_emitted

    def _task_at_work(self) -> Task:
        """The task as the agent sees it: WORKING, the inbound message in its history."""
        message = self._context.message or Message()
        if self._context.current_task is None:
            return self._stamp.new_task(message)
        task = copy.deepcopy(self._context.current_task)
        task.status.state = TaskState.TASK_STATE_WORKING
        join_history(task, message)
        return task

    def _inbox(self) -> A2AInbox:
        context = self._context
        return A2AInbox(
            task=self.task,
            message=context.message or Message(),
            metadata=to_dict(to_struct(context.metadata)) if context.metadata else {},
            headers=without_credentials(context.call_context.state.get("headers", {})),
            user_id=self._caller.user_id,
            authenticated=self._caller.authenticated,
            extensions=frozenset(context.requested_extensions),
        )


def _responses_in(content: types.Content) -> list[types.FunctionResponse]:
    return [part.function_response for part in genai_parts(content) if part.function_response]


def _error_of(event: Event) -> str:
    return f"{event.error_code}: {event.error_message}"
