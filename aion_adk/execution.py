"""One request on its way through the runner: announce, drive, conclude."""

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass

from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskState
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.runners import Runner
from google.genai import types
from google.protobuf.struct_pb2 import Struct

from aion_adk.activity import Activity
from aion_adk.adk_client import mark_for_adk_client
from aion_adk.client_side import CLIENT_SIDE
from aion_adk.errors import BridgeError
from aion_adk.exits import AgentExit, contain_exits
from aion_adk.identity import Caller
from aion_adk.inbox import A2AInbox, without_credentials
from aion_adk.outbound import agent_message
from aion_adk.outcome import Outcome, Spoken, compile_outcome, final_parts, is_final
from aion_adk.pending import PendingCalls, resume_messages
from aion_adk.publisher import KeepText, Publisher
from aion_adk.session import begin_session, events_of, last_agent_parts, saved_file
from aion_adk.stamp import Stamp, new_id, without_protected
from aion_adk.stream import outgoing_of
from aion_adk.turn import Turn, current_turn
from aion_adk.values import to_dict, to_struct

logger = logging.getLogger(__name__)

_SECONDS_TO_STOP = 5.0


class AgentErrorEvent(BridgeError):
    """The agent yielded an event with an error code."""


class RunTimeout(BridgeError):
    """The run exceeded its deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the executor decided about one request before it runs."""

    runner: Runner
    caller: Caller
    stamp: Stamp
    run_config: RunConfig
    timeout: float | None
    buffer_native_content: bool
    reply_as_artifact: bool
    for_adk_client: bool
    shows_text_in_flight: bool
    keep_text: KeepText | None
    may_answer_directly: bool
    activity: Activity


class Execution:
    """Runs the agent for one request and publishes what it says to the queue."""

    def __init__(self, plan: Plan, context: RequestContext, queue: EventQueue) -> None:
        self._plan = plan
        self._context = context
        self._spoken = Spoken()
        self._pending = PendingCalls()
        self._failed_nodes: dict[str, Event] = {}
        self._task = self._current_task()
        artifact_ids = [artifact.artifact_id for artifact in self._task.artifacts]
        self._publisher = Publisher(
            queue,
            plan.stamp,
            artifact_ids=artifact_ids,
            shows_text_in_flight=plan.shows_text_in_flight,
            keep_text=plan.keep_text,
        )
        self.turn = Turn(self._inbox(), task=self._task, deliver=self._publisher.deliver)
        self.turn.client = context.call_context.state.get(CLIENT_SIDE)
        self.turn.session_id = plan.caller.session_id

    @property
    def deltas(self) -> int:
        """How many chunks of text were streamed."""
        return self._publisher.deltas

    async def announce(self) -> None:
        """The first event: the new task, or WORKING for a task that goes on.

        Where a bare Message may be the answer, the task waits for something to say.
        """
        if self._context.current_task is not None:
            await self._publisher.go_on()
        elif self._plan.may_answer_directly:
            self._publisher.hold(self._task)
        else:
            await self._publisher.start(self._task)

    async def drive(self, content: types.Content) -> Outcome:
        """Runs the agent to its end, its deadline or its cancellation."""
        timeout = self._plan.timeout
        contain_exits(where=lambda: current_turn.get() is not None)
        token = current_turn.set(self.turn)
        try:
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

    async def stop(self) -> None:
        """Sends what is still queued and closes the open sections; nothing follows."""
        await self._close()
        await self._publisher.release()

    async def conclude(self, outcome: Outcome) -> None:
        await self._close()
        outcome.metadata = _merged(self._plan.activity.usage_metadata, outcome.metadata)
        await self._publisher.conclude(outcome)

    async def _close(self) -> None:
        await self.turn.close()
        await self._publisher.end_sections()

    async def _run_agent(self, content: types.Content) -> None:
        if client := self.turn.client:
            await begin_session(self._plan.runner, self._plan.caller, client)
        for step in await self._steps(content):
            self._pending.on_responses(_responses_in(step))
            await self._run_step(step)

    async def _steps(self, content: types.Content) -> list[types.Content]:
        """The message itself, or the answers in it in the portions that ADK can take."""
        responses = _responses_in(content)
        if not responses:
            return [content]
        return resume_messages(responses, await events_of(self._plan.runner, self._plan.caller))

    async def _run_step(self, content: types.Content) -> None:
        events = self._plan.runner.run_async(
            user_id=self._plan.caller.user_id,
            session_id=self._plan.caller.session_id,
            new_message=content,
            state_delta=self.turn.client.state if self.turn.client else None,
            run_config=self._plan.run_config,
            abort_signal=self.turn.abort,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    await self._receive(event)
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:
            raise AgentExit(f"the agent raised {type(error).__name__}") from error
        if self._failed_nodes:
            raise AgentErrorEvent(", ".join(map(_error_of, self._failed_nodes.values())))

    async def _receive(self, event: Event) -> None:
        self._notice_error(event)
        self._spoken.hear(event)
        self._pending.on_event(event)
        if self._plan.buffer_native_content and is_final(event):
            said = agent_message(final_parts(event), message_id=new_id())
            self.turn.buffer.append(self.turn.own(said))
        await self.turn.send(*outgoing_of(event), *self._plan.activity.on_event(event))
        for filename, version in event.actions.artifact_delta.items():
            await self._publish_saved_file(filename, version)

    def _notice_error(self, event: Event) -> None:
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

    async def _publish_saved_file(self, filename: str, version: int) -> None:
        plan = self._plan
        artifact = await saved_file(plan.runner, plan.caller, filename=filename, version=version)
        if artifact:
            await self.turn.send(TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True))

    async def _abort(self, agent: asyncio.Task[None]) -> None:
        """Ends the run, tools included; an agent that will not stop is left to itself, unheard."""
        self.turn.abort.set()
        agent.cancel()
        done, _ = await asyncio.wait({agent}, timeout=_SECONDS_TO_STOP)
        if not done:
            logger.warning("task %s: the agent does not stop when cancelled", self._task.id)

    async def _outcome(self) -> Outcome:
        turn = self.turn
        fallback = None
        if not turn.buffer and turn.outbox is None and not self._pending.calls:
            fallback = await self._fallback()
        return compile_outcome(
            buffer=turn.buffer,
            outbox=turn.outbox,
            fallback=fallback,
            known_ids=turn.message_ids,
            pending=self._pending,
            as_artifact=self._as_artifact(),
        )

    def _as_artifact(self) -> bool:
        plan, outbox = self._plan, self.turn.outbox
        patched = outbox is not None and outbox.task is not None and bool(outbox.task.artifacts)
        beside_artifacts = self._publisher.has_artifacts or patched
        return plan.reply_as_artifact or (plan.for_adk_client and beside_artifacts)

    async def _fallback(self) -> Message | None:
        plan = self._plan
        parts = self._spoken.parts or await last_agent_parts(
            plan.runner, plan.caller, self.turn.invocation_ids
        )
        if parts:
            return agent_message(parts, message_id=self._spoken.message_id or new_id())
        return self.turn.last_emitted

    def _current_task(self) -> Task:
        """The task as the agent sees it: WORKING, the inbound message in its history."""
        message = self._context.message or Message()
        if self._context.current_task is None:
            task = self._plan.stamp.new_task(message)
            if self._plan.for_adk_client:
                mark_for_adk_client(task)
            return task
        task = Task()
        task.CopyFrom(self._context.current_task)
        task.status.state = TaskState.TASK_STATE_WORKING
        if all(known.message_id != message.message_id for known in task.history):
            task.history.append(without_protected(message))
        return task

    def _inbox(self) -> A2AInbox:
        context = self._context
        return A2AInbox(
            task=self._task,
            message=context.message or Message(),
            metadata=to_dict(to_struct(context.metadata)) if context.metadata else {},
            headers=without_credentials(context.call_context.state.get("headers", {})),
            user_id=self._plan.caller.user_id,
            authenticated=self._plan.caller.authenticated,
            extensions=frozenset(context.requested_extensions),
        )


def _responses_in(content: types.Content) -> list[types.FunctionResponse]:
    return [part.function_response for part in content.parts or [] if part.function_response]


def _error_of(event: Event) -> str:
    return f"{event.error_code}: {event.error_message}"


def _merged(first: Struct | None, second: Struct | None) -> Struct | None:
    if first is None or second is None:
        return first or second
    merged = Struct()
    merged.MergeFrom(first)
    merged.MergeFrom(second)
    return merged
