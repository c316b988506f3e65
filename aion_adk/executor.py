"""Runs an ADK agent for an A2A request: receive, run, stream, conclude."""

import asyncio
import logging
import warnings
from typing import Unpack

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import Message, TaskState
from a2a.utils.errors import A2AError, InternalError, InvalidParamsError
from google.adk.agents.run_config import (
    RunConfig,
    StreamingMode,  # pyright: ignore[reportPrivateImportUsage]  # ADK documents it from here
    ToolThreadPoolConfig,
)
from google.adk.apps import ResumabilityConfig
from google.adk.runners import Runner
from google.adk.telemetry.context import TelemetryConfig
from google.genai import types

from aion_adk import plugin
from aion_adk.activity import THOUGHTS, TOOL_ACTIVITY, Activity
from aion_adk.adk_client import is_adk_client
from aion_adk.answers import OpenCalls, open_calls_of
from aion_adk.errors import BridgeError, TaskFailed, TaskRejected, find_cause
from aion_adk.execution import Execution, Plan, RunTimeout
from aion_adk.identity import caller_of
from aion_adk.inbound import to_content
from aion_adk.outbound import text_message
from aion_adk.outcome import Outcome
from aion_adk.pending import paused_state
from aion_adk.prompt import prompt_message
from aion_adk.run import Run
from aion_adk.run_options import RunKeywords, RunOptions
from aion_adk.session import refuse
from aion_adk.stamp import Stamp, new_id
from aion_adk.telemetry import observed_run
from aion_adk.turn import STREAMING

logger = logging.getLogger(__name__)

_STREAMING_METHODS = frozenset({"SendStreamingMessage", "message/stream"})


class ADKAgentExecutor(AgentExecutor):
    """Drives a `Runner` for each request and publishes what comes out as A2A events.

    The runner gets what serving takes: the bridge's plugin, sessions made on demand, and
    invocations that can be resumed, unless it was told otherwise.
    """

    def __init__(self, runner: Runner, **options: Unpack[RunKeywords]) -> None:
        plugin.install(runner.plugin_manager.plugins)
        runner.auto_create_session = True
        runner.resumability_config = runner.resumability_config or _resumable()
        self.runner = runner
        self._options = RunOptions(**options)
        self._run_config = _prepared(self._options.run_config)

    def check(self, context: RequestContext) -> None:
        """Refuses a message that no agent could read, before there is any task."""
        if context.message is None:
            raise InvalidParamsError("The request has no message.")
        to_content(context.message, plain_text=context.get_user_input())

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        request, execution = self._receive(context, event_queue)
        with observed_run(context) as run:
            await execution.announce()
            try:
                if isinstance(request, OpenCalls):
                    outcome = still_waiting(request)
                else:
                    outcome = await execution.drive(request)
            except asyncio.CancelledError:
                await execution.stop()
                raise
            except Exception as error:
                outcome = failure(error, task_id=context.task_id or "")
            run.state, run.deltas = outcome.state, execution.deltas
            await execution.conclude(outcome)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.message is None and (calls := open_calls_of(context.current_task).calls):
            await refuse(self.runner, caller_of(context, user_id=self._options.user_id), calls)
        stamp = self._stamp(context)
        await event_queue.enqueue_event(stamp.status_update(TaskState.TASK_STATE_CANCELED))

    def _receive(
        self, context: RequestContext, event_queue: EventQueue
    ) -> tuple[types.Content | OpenCalls, Execution]:
        """What to say to the agent and how to run it; refused before there is any task."""
        if context.message is None:
            raise InvalidParamsError("The request has no message.")
        try:
            request = _request_of(context, context.message)
            return request, Execution(self._plan(context, event_queue), context, event_queue)
        except A2AError:
            raise
        except Exception as error:
            error_id = _log_failure(error, task_id=context.task_id or "")
            raise InternalError(f"Internal error. Error id: {error_id}") from None

    def _plan(self, context: RequestContext, event_queue: EventQueue) -> Plan:
        streaming = _is_streaming(context)
        run = event_queue if isinstance(event_queue, Run) else None
        mode = StreamingMode.SSE if streaming else StreamingMode.NONE
        return Plan(
            runner=self.runner,
            caller=caller_of(context, user_id=self._options.user_id),
            stamp=self._stamp(context),
            run_config=self._run_config.model_copy(update={"streaming_mode": mode}),
            timeout=self._options.run_timeout,
            buffer_native_content=self._options.native_content == "buffer",
            reply_as_artifact=self._options.reply_as == "artifact",
            for_adk_client=is_adk_client(context),
            # Another handler's queue would keep text in flight in the task that it returns.
            shows_text_in_flight=streaming or run is not None,
            keep_text=run.keep_text if run else None,
            may_answer_directly=self._options.direct_messages and not _returns_immediately(context),
            activity=self._activity(context),
        )

    def _activity(self, context: RequestContext) -> Activity:
        wanted = context.requested_extensions
        return Activity(
            tools=self._options.tool_activity or TOOL_ACTIVITY in wanted,
            thoughts=self._options.thoughts or THOUGHTS in wanted,
        )

    def _stamp(self, context: RequestContext) -> Stamp:
        metadata = self._options.server_metadata
        if callable(metadata):
            metadata = metadata(context)
        return Stamp(
            task_id=context.task_id or "",
            context_id=context.context_id or "",
            metadata=metadata,
            canonical_types=self._options.canonical_types,
        )


def _prepared(run_config: RunConfig | None) -> RunConfig:
    config = run_config or RunConfig(tool_thread_pool_config=ToolThreadPoolConfig())
    # Without one, ADK reads the environment for another at every step of a run.
    telemetry = config.telemetry or TelemetryConfig()
    return config.model_copy(update={"telemetry": telemetry})


def _resumable() -> ResumabilityConfig:
    with warnings.catch_warnings():
        # ADK calls it experimental; whoever serves an agent did not ask for it by name.
        warnings.simplefilter("ignore", UserWarning)
        return ResumabilityConfig(is_resumable=True)


def failure(error: Exception, *, task_id: str) -> Outcome:
    """FAILED or REJECTED with a text for the caller; everything else goes to the log only."""
    if rejected := find_cause(error, TaskRejected):
        return _outcome(TaskState.TASK_STATE_REJECTED, str(rejected) or "The task was rejected.")
    if failed := find_cause(error, TaskFailed):
        return _outcome(TaskState.TASK_STATE_FAILED, str(failed) or "The task failed.")
    error_id = _log_failure(error, task_id=task_id)
    what = "took too long" if isinstance(error, RunTimeout) else "could not be completed"
    return _outcome(TaskState.TASK_STATE_FAILED, f"The request {what}. Error id: {error_id}")


def _outcome(state: TaskState, text: str) -> Outcome:
    return Outcome(state=state, messages=[text_message(text, message_id=new_id())])


def _log_failure(error: Exception, *, task_id: str) -> str:
    error_id = new_id()
    reason = find_cause(error, BridgeError) or error
    logger.error("task %s failed, error id %s: %s", task_id, error_id, reason, exc_info=error)
    return error_id


def _request_of(context: RequestContext, message: Message) -> types.Content | OpenCalls:
    """The agent's new message; what is still open if the task waits for more than this one."""
    content = to_content(message, plain_text=context.get_user_input())
    open_calls = open_calls_of(context.current_task, before=message)
    if open_calls.unanswered:
        open_calls.add_answers(message)
        return open_calls if open_calls.unanswered else open_calls.content
    if any(part.function_response for part in content.parts or []):
        raise InvalidParamsError("No call of this task waits for a function response.")
    return content


def still_waiting(waiting: OpenCalls) -> Outcome:
    """The open questions again, with what is held and what was wrong about the answer."""
    calls = list(waiting.unanswered.values())
    held = [f"{len(waiting.responses)} of {len(waiting.calls)} answers received."]
    remarks = [*(held if waiting.responses else []), *waiting.problems]
    return Outcome(state=paused_state(calls), messages=[prompt_message(calls, remarks=remarks)])


def _returns_immediately(context: RequestContext) -> bool:
    configuration = context.configuration
    return configuration is not None and configuration.return_immediately


def _is_streaming(context: RequestContext) -> bool:
    state = context.call_context.state
    return bool(state.get(STREAMING)) or state.get("method") in _STREAMING_METHODS
