"""Runs an ADK agent for an A2A request."""

import asyncio
import copy
import logging
import warnings
from dataclasses import replace
from typing import Unpack
from weakref import WeakKeyDictionary

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import TaskState
from a2a.utils.errors import A2AError, InternalError, InvalidParamsError
from google.adk.apps import ResumabilityConfig
from google.adk.plugins.plugin_manager import PluginManager
from google.adk.runners import Runner
from google.genai import types

from aion_adk.context.plugin import with_bridge
from aion_adk.errors import (
    BridgeError,
    TaskFailed,
    TaskRejected,
    find_cause,
    internal_error_text,
    log_failure,
)
from aion_adk.execution.adk_session import Caller, caller_of, refuse
from aion_adk.execution.agent_run import AgentRun, RunTimeout
from aion_adk.execution.options import RunKeywords, RunOptions
from aion_adk.execution.outcome import Outcome
from aion_adk.execution.pauses.answers import OpenCalls, open_calls_of
from aion_adk.execution.pauses.calls import paused_state
from aion_adk.execution.pauses.questions import prompt_message
from aion_adk.execution.publisher import ForeignQueue
from aion_adk.execution.telemetry import observed_run
from aion_adk.protocol.from_genai import genai_parts, text_message
from aion_adk.protocol.stamp import StampOptions, TaskQueue
from aion_adk.protocol.task_state import PAUSED_STATES
from aion_adk.protocol.to_genai import to_content

logger = logging.getLogger(__name__)

_Checked = tuple[types.Content | OpenCalls, Caller]


class ADKAgentExecutor(AgentExecutor):
    """Drives a `Runner` for each request and publishes what comes out as A2A events.

    The options are those of `RunOptions`: keywords, or an object whose fields keywords replace.
    The given runner stays as it is: `runner` is a copy that shares its services and has what
    serving takes, the bridge's plugin, sessions made on demand, and invocations that can be
    resumed unless it was told otherwise.
    """

    def __init__(
        self, runner: Runner, given: RunOptions | None = None, **options: Unpack[RunKeywords]
    ) -> None:
        self.runner = _prepared_runner(runner)
        self._options = replace(given, **options) if given else RunOptions(**options)
        self.stamps: StampOptions = self._options.stamps
        self._checked: WeakKeyDictionary[RequestContext, _Checked] = WeakKeyDictionary()

    def check(self, context: RequestContext) -> None:
        """Raises, before a task is made or changed, if no run can begin with this message."""
        self._checked[context] = self._check(context)

    def answers_with_task(self, context: RequestContext) -> bool:
        configuration = context.configuration
        immediately = configuration is not None and configuration.return_immediately
        return immediately or not self._options.direct_messages

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        is_new = context.current_task is None
        may_be_direct = is_new and not self.answers_with_task(context)
        try:
            given, caller = self._checked.pop(context, None) or self._check(context)
            foreign = None
            if isinstance(event_queue, TaskQueue):
                queue = event_queue
            else:
                queue = foreign = ForeignQueue(event_queue, self.stamps.of(context), context)
            run = AgentRun(
                self.runner, self._options, context, caller, queue, may_be_direct=may_be_direct
            )
        except A2AError:
            raise
        except Exception as error:
            what = f"task {context.task_id} failed"
            raise InternalError(internal_error_text(logger, what, error)) from None
        with observed_run(context) as observed:
            if foreign:
                await foreign.announce(run.task if is_new else None, hold=may_be_direct)
            try:
                if isinstance(given, OpenCalls):
                    outcome = _still_waiting(given)
                else:
                    outcome = await run.run(given)
            except asyncio.CancelledError:
                await run.close()
                if foreign:
                    await foreign.announce_held()
                raise
            except Exception as error:
                outcome = _failure(error, context)
            observed.state, observed.chunks = outcome.state, run.chunks
            await run.conclude(outcome)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.message is None and (calls := open_calls_of(context.current_task).calls):
            await refuse(self.runner, caller_of(context, user_id=self._options.user_id), calls)
        if not isinstance(event_queue, TaskQueue):
            canceled = self.stamps.of(context).status_update(TaskState.TASK_STATE_CANCELED)
            await event_queue.enqueue_event(canceled)

    def _check(self, context: RequestContext) -> _Checked:
        return _content_or_calls(context), caller_of(context, user_id=self._options.user_id)


def _prepared_runner(given: Runner) -> Runner:
    runner = copy.copy(given)
    runner.plugin_manager = PluginManager(plugins=with_bridge(given.plugin_manager.plugins))
    runner.auto_create_session = True
    with warnings.catch_warnings():
        # ADK warns that this is experimental; the user did not turn it on.
        warnings.simplefilter("ignore", UserWarning)
        resumable = ResumabilityConfig(is_resumable=True)
    runner.resumability_config = runner.resumability_config or resumable
    return runner


def _failure(error: Exception, context: RequestContext) -> Outcome:
    """FAILED or REJECTED with a text for the caller; everything else goes to the log only."""
    state = TaskState.TASK_STATE_FAILED
    if rejected := find_cause(error, TaskRejected):
        state, text = TaskState.TASK_STATE_REJECTED, str(rejected) or "The task was rejected."
    elif failed := find_cause(error, TaskFailed):
        text = str(failed) or "The task failed."
    else:
        reason = find_cause(error, BridgeError)
        cause = f" ({reason})" if reason and reason is not error else ""
        what = f"task {context.task_id} failed{cause}"
        error_id = log_failure(logger, what, error)
        how = "took too long" if isinstance(error, RunTimeout) else "could not be completed"
        text = f"The request {how}. Error id: {error_id}"
    return Outcome(state=state, messages=[text_message(text)])


def _content_or_calls(context: RequestContext) -> types.Content | OpenCalls:
    """The content for the agent, or the calls that are still open after this message."""
    message = context.message
    if message is None:
        raise InvalidParamsError("The request has no message.")
    content = to_content(message, plain_text=context.get_user_input())
    task = context.current_task
    if task and task.status.state in PAUSED_STATES:
        open_calls = open_calls_of(task, before=message)
    else:
        open_calls = None
    if open_calls and open_calls.unanswered:
        open_calls.add_answers(message)
        return open_calls if open_calls.unanswered else open_calls.content
    if any(part.function_response for part in genai_parts(content)):
        raise InvalidParamsError("No call of this task waits for a function response.")
    return content


def _still_waiting(waiting: OpenCalls) -> Outcome:
    """The open questions again, with what is held and what was wrong about the answer."""
    calls = list(waiting.unanswered.values())
    held = [f"{len(waiting.responses)} of {len(waiting.calls)} answers received."]
    remarks = [*(held if waiting.responses else []), *waiting.problems]
    return Outcome(state=paused_state(calls), messages=[prompt_message(calls, remarks=remarks)])
