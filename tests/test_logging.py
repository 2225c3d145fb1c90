"""Logs, spans and metrics have no texts of users, and there are none unless they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

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

SECRETS = ("zebra", "quagga")


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as opened:
        yield opened


def _use(memory: NeuroGraphMemory) -> None:
    ids = memory.add_document(f"The {SECRETS[0]} ran.") + memory.add_document(f"The {SECRETS[0]} slept.")
    memory.recall(f"Where is the {SECRETS[0]} and the {SECRETS[1]}?")
    memory.feedback(ids)
    memory.maintenance(datetime.now(UTC) + timedelta(days=9))


def test_the_work_is_logged_at_info_and_each_recall_with_its_stages_at_debug(
    memory: NeuroGraphMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "neurogated"):
        _use(memory)
    logged = {
        (record.name.removeprefix("neurogated."), record.levelname): record.getMessage() for record in caplog.records
    }
    assert logged["ingestion.writer", "INFO"].startswith("stored 1 chunks, 1 of them new, in ")
    assert logged["plasticity.plasticity_engine", "INFO"].startswith("edges idle since ")
    recall = logged["retrieval.neuro_retriever", "DEBUG"]
    assert recall.startswith("recalled 2 memories: ")
    assert all(stage in recall for stage in ("embed ", "kernel ", "search ", "activate ", "rank "))


def test_no_text_of_a_memory_and_no_question_is_logged(
    memory: NeuroGraphMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """A text that was forgotten for good must not survive in a log."""
    with caplog.at_level(logging.DEBUG, "neurogated"):
        _use(memory)
    assert len(caplog.records) > 4
    assert not any(secret in caplog.text for secret in SECRETS)


SPANS, METRICS = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def _providers() -> None:
    # A process has one provider of each kind.
    tracer = TracerProvider()
    tracer.add_span_processor(SimpleSpanProcessor(SPANS))
    trace.set_tracer_provider(tracer)
    metrics.set_meter_provider(MeterProvider([METRICS]))


@pytest.fixture
def traced() -> Iterator[NeuroGraphMemory]:
    SPANS.clear()
    with NeuroGraphMemory(
        MemoryConfig(storage="memory", embedding_name="hash", runtime=RuntimeSettings(telemetry=True))
    ) as memory:
        yield memory


def test_each_call_has_a_span_and_a_duration(traced: NeuroGraphMemory) -> None:
    traced.add("The heron stands in the reeds.", user_id="ana")
    traced.recall("Where is the heron?", user_id="ana")
    with pytest.raises(UnknownIdError):
        traced.update("nobody", "text")
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


def test_spans_tell_nothing_of_texts_and_users(traced: NeuroGraphMemory) -> None:
    traced.add("The heron stands in the reeds.", id="h", user_id="ana", metadata={"place": "pond"})
    with pytest.raises(UnknownIdError):
        traced.update("pond", "text")
    told = "".join(span.to_json() for span in SPANS.get_finished_spans())
    assert not any(word in told for word in ("heron", 'ana"', "pond"))
