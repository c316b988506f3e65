"""Spans and measurements of runs, through the in-memory exporters of the SDK."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx
import pytest
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.telemetry.context import TelemetryConfig
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from aion_adk import TaskFailed
from aion_adk.execution.telemetry import parent_of
from tests.agents import agent_of, text_event
from tests.models import ScriptedModel, call, text
from tests.serving import HEADERS, reply_of, send, serving, stream

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01"}


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    processor = SimpleSpanProcessor(exporter)
    provider.add_span_processor(processor)
    yield exporter
    processor.shutdown()
    exporter.shutdown()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


@pytest.fixture(scope="module")
def reader() -> InMemoryMetricReader:
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    return reader


def greeter() -> LlmAgent:
    return LlmAgent(name="greeter", model=ScriptedModel(steps=[[text("Hello there.")]]))


def failing() -> LlmAgent:
    def fail() -> str:
        raise TaskFailed("Not today.")

    steps = [[call("fail", call_id="f")]]
    return LlmAgent(name="failing", model=ScriptedModel(steps=steps), tools=[fail])


def run_span(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = [span for span in spans.get_finished_spans() if span.name == "a2a.run"]
    return span


def parent_id(span: ReadableSpan) -> int:
    assert span.parent
    return span.parent.span_id


async def test_the_run_is_below_the_span_of_the_caller(spans: InMemorySpanExporter) -> None:
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}},
    }
    async with serving(greeter()) as url, httpx.AsyncClient() as http:
        answer = await http.post(url, json=body, headers={**HEADERS, **TRACEPARENT})
    task = answer.json()["result"]["task"]
    span = run_span(spans)
    assert format(parent_id(span), "016x") == SPAN
    assert dict(span.attributes or {}) == {
        "a2a.task.id": task["id"],
        "a2a.context.id": task["contextId"],
        "a2a.task.state": "completed",
    }
    assert span.context
    below = [item for item in spans.get_finished_spans() if item.name.startswith("invo")]
    assert {format(item.context.trace_id, "032x") for item in below if item.context} == {TRACE}
    assert span.context.span_id in [parent_id(item) for item in below]


async def test_a_failed_run_is_an_error(spans: InMemorySpanExporter) -> None:
    async with serving(failing()) as url:
        task = await send(url, "hi")
    span = run_span(spans)
    assert reply_of(task) == "Not today."
    assert (span.attributes or {})["a2a.task.state"] == "failed"
    assert not span.status.is_ok


def points(reader: InMemoryMetricReader) -> dict[tuple[str, str], Any]:
    """The points of our measurements by name and state of the task."""
    data = reader.get_metrics_data()
    assert data
    return {
        (metric.name, str((point.attributes or {})["a2a.task.state"])): point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        if scope.scope.name == "aion_adk"
        for metric in scope.metrics
        for point in metric.data.data_points
    }


async def test_runs_are_counted_and_timed_by_their_state(reader: InMemoryMetricReader) -> None:
    async with serving(greeter()) as url:
        await stream(url, "hi")
        await send(url, "hi")
    async with serving(failing()) as url:
        await send(url, "hi")
    found = points(reader)
    assert found["aion_adk.runs", "completed"].value == 2
    assert found["aion_adk.runs", "failed"].value == 1
    assert found["aion_adk.run.deltas", "completed"].value == 2
    assert found["aion_adk.run.duration", "completed"].count == 2
    assert ("aion_adk.run.deltas", "failed") not in found


def test_an_instrumented_web_server_stays_the_parent(spans: InMemorySpanExporter) -> None:
    tracer = trace.get_tracer("web")
    with tracer.start_as_current_span("request", context=parent_of(TRACEPARENT)):
        assert parent_of(TRACEPARENT) is None
    with tracer.start_as_current_span("something else"):
        assert parent_of(TRACEPARENT) is not None
    assert parent_of({}) is None


@pytest.mark.parametrize("given", [None, TelemetryConfig(capture_message_content=None)])
async def test_every_run_has_the_telemetry_settings_that_the_server_started_with(
    given: TelemetryConfig | None,
) -> None:
    seen: list[TelemetryConfig | None] = []

    async def note(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert ctx.run_config
        seen.append(ctx.run_config.telemetry)
        yield text_event(agent, ctx, "noted")

    run_config = RunConfig(telemetry=given) if given else None
    async with serving(agent_of(note), run_config=run_config) as url:
        await send(url, "one")
        await stream(url, "two")
    assert seen[0] is not None
    assert seen[0] is seen[1]
    assert given is None or seen[0] is given
