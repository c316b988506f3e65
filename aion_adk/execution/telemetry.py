"""OpenTelemetry for runs: a span below the caller's, and a few metrics.

Without an OpenTelemetry SDK in the process, its API does nothing here.
"""

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from a2a.server.agent_execution import RequestContext
from a2a.types import TaskState
from opentelemetry import metrics, propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode

from aion_adk.protocol.task_state import state_name

_tracer = trace.get_tracer("aion_adk")
_meter = metrics.get_meter("aion_adk")
_runs = _meter.create_counter("aion_adk.runs", unit="{run}", description="Runs that ended.")
_duration = _meter.create_histogram(
    "aion_adk.run.duration", unit="s", description="How long a run took."
)
_chunks = _meter.create_counter(
    "aion_adk.run.deltas", unit="{delta}", description="Chunks of text streamed by runs."
)


@dataclass(slots=True)
class ObservedRun:
    """What is known of a run when it ends; one that was stopped from outside has no state."""

    state: TaskState | None = None
    chunks: int = 0


@contextmanager
def observed_run(context: RequestContext) -> Generator[ObservedRun, None, None]:
    """Measures what happens inside, in a span below the caller's."""
    run = ObservedRun()
    started = time.perf_counter()
    attributes = {"a2a.task.id": context.task_id or "", "a2a.context.id": context.context_id or ""}
    parent = parent_of(context.call_context.state.get("headers") or {})
    if parent is None and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        # Nobody set a provider and the caller sent no trace: there is nothing to hand on.
        entered = nullcontext(trace.INVALID_SPAN)
    else:
        entered = _tracer.start_as_current_span("a2a.run", context=parent, attributes=attributes)
    with entered as span:
        try:
            yield run
        finally:
            state = "interrupted" if run.state is None else state_name(run.state).lower()
            span.set_attribute("a2a.task.state", state)
            if run.state == TaskState.TASK_STATE_FAILED:
                span.set_status(Status(StatusCode.ERROR))
            labels = {"a2a.task.state": state}
            _runs.add(1, labels)
            _duration.record(time.perf_counter() - started, labels)
            if run.chunks:
                _chunks.add(run.chunks, labels)


def parent_of(headers: Mapping[str, str]) -> Context | None:
    """The caller's span; None where the current one, such as the web server's, is in its trace."""
    if "traceparent" not in headers:
        return None
    caller = propagate.extract(headers)
    trace_id = trace.get_current_span(caller).get_span_context().trace_id
    current = trace.get_current_span().get_span_context()
    return None if current.is_valid and current.trace_id == trace_id else caller
