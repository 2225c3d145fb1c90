"""Metrics of the requests for Prometheus. No label names a user, an id or a text."""

from __future__ import annotations

from neurogated.core.extras import needs_extra

with needs_extra("serve"):
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
    from starlette.types import Scope

CONTENT_TYPE = CONTENT_TYPE_LATEST
_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE"})
_BUCKETS = (0.005, 0.01, 0.02, 0.03, 0.06, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """The counts and durations of requests by route, method and status."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "neurogated_request_seconds",
            "Duration of requests",
            ("route", "method", "status"),
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        # An unknown route or method may be any text, and each value of a label costs memory.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._seconds.labels(route, method, status).observe(seconds)

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
