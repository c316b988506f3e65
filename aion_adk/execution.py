"""One request on its way through the runner: announce, drive, conclude."""

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass

from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.types import (
    Artifact,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.runners import Runner
from google.genai import types
from google.protobuf.struct_pb2 import Struct

from aion_adk.activity import Activity
from aion_adk.errors import BridgeError
from aion_adk.identity import Caller
from aion_adk.inbox import A2AInbox, without_credentials
from aion_adk.outbound import agent_message, reply_parts, to_a2a_part
from aion_adk.outcome import Outcome, Spoken, compile_outcome
from aion_adk.stamp import Stamp, new_id, without_protected
from aion_adk.stream import DeltaSections, outgoing_of
from aion_adk.turn import DeltaEnd, Outgoing, TextDelta, Turn, current_turn
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
    activity: Activity


class Execution:
    """Runs the agent for one request and publishes what it says to the queue."""

    def __init__(self, plan: Plan, context: RequestContext, queue: EventQueue) -> None:
        self.stamp = plan.stamp
        self._plan = plan
        self._runner = plan.runner
        self._caller = plan.caller
        self._context = context
        self._queue = queue
        self._sections = DeltaSections(task_id=self.stamp.task_id, context_id=self.stamp.context_id)
        self._spoken = Spoken()
        self._task = self._current_task()
        self.turn = Turn(self._inbox(), deliver=self._deliver)

    async def announce(self) -> None:
        """The first event: the new task, or WORKING for a task that goes on."""
        if self._context.current_task is None:
            await self._queue.enqueue_event(self._task)
        else:
            working = self.stamp.status_update(TaskState.TASK_STATE_WORKING)
            await self._queue.enqueue_event(working)

    async def drive(self, content: types.Content) -> Outcome:
        timeout = self._plan.timeout
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
            raise RuntimeError("the agent cancelled its own run")
        agent.result()
        return await self._outcome()

    async def stop(self) -> None:
        """Sends what is still queued and closes the open sections; nothing follows."""
        await self.turn.close()
        for update in self._sections.end_all():
            await self._queue.enqueue_event(update)

    async def conclude(self, outcome: Outcome) -> None:
        await self.stop()
        known = {message.message_id for message in self._task.history}
        messages = [
            message
            for message in map(self.stamp.message, outcome.messages)
            if message.message_id not in known
        ]
        if self._plan.reply_as_artifact and messages:
            outcome.artifacts.append(_reply_artifact(messages))
            messages = []
        for message in messages[:-1]:
            await self._publish_status(TaskState.TASK_STATE_WORKING, message)
        for artifact in outcome.artifacts:
            await self._queue.enqueue_event(self.stamp.artifact_update(artifact))
        final = messages[-1] if messages else None
        metadata = _merged(self._plan.activity.usage, outcome.metadata)
        update = self.stamp.status_update(outcome.state, message=final, metadata=metadata)
        await self._queue.enqueue_event(update)

    async def _run_agent(self, content: types.Content) -> None:
        events = self._runner.run_async(
            user_id=self._caller.user_id,
            session_id=self._caller.session_id,
            new_message=content,
            run_config=self._plan.run_config,
            abort_signal=self.turn.abort,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    await self._receive(event)
        except SystemExit as error:
            raise RuntimeError("the agent called sys.exit()") from error

    async def _receive(self, event: Event) -> None:
        if event.error_code and not event.partial:
            raise AgentErrorEvent(f"{event.error_code}: {event.error_message}")
        self._spoken.hear(event)
        await self.turn.send(*outgoing_of(event), *self._plan.activity.outgoing_of(event))
        for filename, version in event.actions.artifact_delta.items():
            await self._publish_saved_file(filename, version)

    async def _abort(self, agent: asyncio.Task[None]) -> None:
        """Ends the run, tools included; an agent that will not stop is left to itself, unheard."""
        self.turn.abort.set()
        agent.cancel()
        done, _ = await asyncio.wait({agent}, timeout=_SECONDS_TO_STOP)
        if not done:
            logger.warning("task %s: the agent does not stop when cancelled", self.stamp.task_id)

    async def _outcome(self) -> Outcome:
        buffer = list(self.turn.buffer)
        if self._plan.buffer_native_content:
            buffer += [agent_message(parts, message_id=new_id()) for parts in self._spoken.finals]
        fallback = None
        if not buffer and self.turn.outbox is None:
            fallback = await self._fallback()
        return compile_outcome(buffer=buffer, outbox=self.turn.outbox, fallback=fallback)

    async def _fallback(self) -> Message | None:
        parts = self._spoken.parts or await self._last_session_parts()
        if parts:
            return agent_message(parts, message_id=new_id())
        return self.turn.last_emitted

    async def _last_session_parts(self) -> list[Part]:
        """The last thing the agent said in this invocation that only the session knows."""
        runner = self._runner
        session = await runner.session_service.get_session(
            app_name=runner.app_name,
            user_id=self._caller.user_id,
            session_id=self._caller.session_id,
        )
        events = session.events if session else []
        for event in reversed(events):
            if event.invocation_id not in self.turn.invocation_ids:
                break
            if event.author != "user" and (parts := reply_parts(event.content)):
                return parts
        return []

    async def _publish_saved_file(self, filename: str, version: int) -> None:
        runner = self._runner
        if runner.artifact_service is None:
            return
        saved = await runner.artifact_service.load_artifact(
            app_name=runner.app_name,
            user_id=self._caller.user_id,
            session_id=self._caller.session_id,
            filename=filename,
            version=version,
        )
        part = to_a2a_part(saved) if saved else None
        if part is None:
            return
        part.filename = filename
        artifact = Artifact(
            artifact_id=filename,
            name=filename,
            parts=[part],
            metadata=to_struct({"version": version}),
        )
        self.turn.artifact_ids.add(filename)
        await self.turn.send(self.stamp.artifact_update(artifact))

    async def _publish_status(self, state: TaskState, message: Message) -> None:
        await self._queue.enqueue_event(self.stamp.status_update(state, message=message))

    async def _deliver(self, item: Outgoing) -> None:
        match item:
            case TextDelta():
                await self._queue.enqueue_event(self._sections.text(item))
            case DeltaEnd():
                if update := self._sections.end(item.key):
                    await self._queue.enqueue_event(update)
            case TaskStatusUpdateEvent(status=status):
                message = status.message if status.HasField("message") else None
                metadata = item.metadata if item.HasField("metadata") else None
                update = self.stamp.status_update(status.state, message=message, metadata=metadata)
                await self._queue.enqueue_event(update)
            case TaskArtifactUpdateEvent():
                update = self.stamp.artifact_update(
                    item.artifact, append=item.append, last_chunk=item.last_chunk
                )
                await self._queue.enqueue_event(update)

    def _current_task(self) -> Task:
        message = self._context.message or Message()
        if self._context.current_task is None:
            return self.stamp.new_task(message)
        task = Task()
        task.CopyFrom(self._context.current_task)
        task.status.state = TaskState.TASK_STATE_WORKING
        if all(known.message_id != message.message_id for known in task.history):
            task.history.append(without_protected(message))
        return task

    def _inbox(self) -> A2AInbox:
        context = self._context
        task, message = Task(), Message()
        task.CopyFrom(self._task)
        message.CopyFrom(context.message or Message())
        request_metadata = context.metadata
        return A2AInbox(
            task=task,
            message=message,
            metadata=to_dict(to_struct(request_metadata)) if request_metadata else {},
            user_id=self._caller.user_id,
            authenticated=self._caller.authenticated,
            extensions=frozenset(context.requested_extensions),
            headers=without_credentials(context.call_context.state.get("headers", {})),
        )


def _reply_artifact(messages: list[Message]) -> Artifact:
    parts = [part for message in messages for part in message.parts]
    return Artifact(artifact_id="reply", name="reply", parts=parts)


def _merged(first: Struct | None, second: Struct | None) -> Struct | None:
    if first is None or second is None:
        return first or second
    merged = Struct()
    merged.MergeFrom(first)
    merged.MergeFrom(second)
    return merged
