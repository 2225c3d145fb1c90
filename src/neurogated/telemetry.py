"""OpenTelemetry spans and metrics, if the settings enable them; this library itself sends nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from neurogated.errors import MissingExtraError

_SCOPE = "neurogated"

Spans = Callable[[str], AbstractContextManager[object]]
"""Opens a span of this name for a block."""


def spans(*, enabled: bool) -> Spans:
    """Return a function that opens spans and records the duration and outcome of each block.

    Spans and metrics go to the providers that the application has set up.

    Raises:
        MissingExtraError: they are enabled and OpenTelemetry is not installed.
    """
    if not enabled:
        return nullcontext
    try:
        from opentelemetry import metrics, trace  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("telemetry needs OpenTelemetry; pip install 'neurogated[otel]'") from error
    tracer = trace.get_tracer(_SCOPE)
    seconds = metrics.get_meter(_SCOPE).create_histogram(
        "neurogated.duration", unit="s", description="how long a call took"
    )

    @contextmanager
    def span(name: str) -> Iterator[None]:
        begin, outcome = time.perf_counter(), "error"
        # An error message may quote a memory, so the span records only the class of the error.
        with tracer.start_as_current_span(
            f"{_SCOPE}.{name}", record_exception=False, set_status_on_exception=False
        ) as current:
            try:
                yield
                outcome = "success"
            except BaseException as error:
                current.set_status(trace.StatusCode.ERROR, type(error).__name__)
                raise
            finally:
                seconds.record(time.perf_counter() - begin, {"call": name, "outcome": outcome})

    return span
