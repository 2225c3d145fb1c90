"""Spans and metrics, received by OpenTelemetry's own SDK like an application's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.errors import UnknownIdError

SPANS, METRICS = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def _providers() -> None:
    # A process has one provider of each kind.
    tracer = TracerProvider()
    tracer.add_span_processor(SimpleSpanProcessor(SPANS))
    trace.set_tracer_provider(tracer)
    metrics.set_meter_provider(MeterProvider([METRICS]))


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    SPANS.clear()
    with NeuroGraphMemory(
        MemoryConfig(storage="memory", embedding_name="hash", runtime=RuntimeSettings(telemetry=True))
    ) as memory:
        yield memory


def test_each_call_has_a_span_and_a_duration(memory: NeuroGraphMemory) -> None:
    memory.add("The heron stands in the reeds.", user_id="ana")
    memory.recall("Where is the heron?", user_id="ana")
    with pytest.raises(UnknownIdError):
        memory.update("nobody", "text")
    names = [span.name for span in SPANS.get_finished_spans()]
    assert names == ["neurogated.indexing", "neurogated.recalling", "neurogated.updating"]
    assert [span.status.is_ok for span in SPANS.get_finished_spans()] == [True, True, False]
    data = METRICS.get_metrics_data()
    assert data is not None
    points = data.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
    counted = {
        (point.attributes["call"], point.attributes["outcome"]): point.count
        for point in points
        if isinstance(point, HistogramDataPoint) and point.attributes is not None
    }
    assert counted["recalling", "success"] == counted["updating", "error"] == 1


def test_spans_tell_nothing_of_texts_and_users(memory: NeuroGraphMemory) -> None:
    memory.add("The heron stands in the reeds.", id="h", user_id="ana", metadata={"place": "pond"})
    with pytest.raises(UnknownIdError):
        memory.update("pond", "text")
    told = "".join(span.to_json() for span in SPANS.get_finished_spans())
    assert not any(word in told for word in ("heron", 'ana"', "pond"))
