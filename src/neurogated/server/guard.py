"""`Guard`: what happens to every request before its route: id, origin, key, limits and metrics."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

from neurogated.core.extras import needs_extra
from neurogated.integrations.mcp.bodies import MOST_BYTES, PATIENCE, bounded, too_long
from neurogated.operations import told
from neurogated.server.callers import NO_KEY, Grant, Keys
from neurogated.server.errors import error_response

with needs_extra("serve"):
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"\[?([^\[\]/@]+?)\]?(:\d+)?", re.ASCII)
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
_TOO_MANY = "too many requests of this key are being answered; try again when one is done"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; "
    "trusted-types 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
CONTENT_TYPE = CONTENT_TYPE_LATEST
_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE"})
_BUCKETS = (0.005, 0.01, 0.02, 0.03, 0.06, 0.1, 0.25, 0.5, 1, 2.5, 10)


@dataclass(slots=True)
class Limits:
    """The limits of a server."""

    body: int = MOST_BYTES
    """Most bytes of a body."""
    rate: float = 500.0
    """Most requests of one key in a second, on average. A key may save up the requests of two seconds."""
    patience: float = PATIENCE
    """Seconds in which a body must arrive."""
    concurrency: int = 100
    """Most requests of one key that are being answered at once."""
    _left: dict[Grant, tuple[float, float]] = field(default_factory=dict, repr=False)
    """For each grant the requests that are left, and the time of the last one."""

    _open: Counter[tuple[Grant | None, bool]] = field(default_factory=Counter, repr=False)
    """For each grant (None: no key) the requests that are being answered, and apart from them its open streams."""

    @contextlib.contextmanager
    def slot(self, grant: Grant | None, *, stream: bool) -> Iterator[bool]:
        """Count a request while it is being answered; the value is whether one more was allowed.

        Each open session of MCP has a stream that waits for events. Streams have places of their own, so that sessions
        that do nothing take none from requests.
        """
        self._open[grant, stream] += 1
        try:
            yield self._open[grant, stream] <= self.concurrency
        finally:
            self._open[grant, stream] -= 1

    def admits(self, grant: Grant) -> bool:
        """Count a request, and return whether it is within the rate (a token bucket)."""
        most, now = 2 * self.rate, time.monotonic()
        left, last = self._left.get(grant, (most, now))
        left = min(most, left + (now - last) * self.rate)
        self._left[grant] = (left - 1 if left >= 1 else left, now)
        return left >= 1


class Metrics:
    """The counts and durations of requests by route, method and status. No label names a user, an id or a text."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        about = "neurogated_request_seconds", "Duration of requests", ("route", "method", "status")
        self._seconds = Histogram(*about, buckets=_BUCKETS, registry=self._registry)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        # An unknown route or method may be any text, and each value of a label costs memory.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._seconds.labels(route, method, status).observe(seconds)

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class Guard:
    """An ASGI middleware around the whole app."""

    def __init__(
        self, app: ASGIApp, *, keys: Keys, namespace: str, limits: Limits, metrics: Metrics, hosts: Collection[str]
    ) -> None:
        """Take the app, and what `create_app` was given; requests without keys see the graph `namespace`."""
        self._app, self._keys, self._limits, self._metrics = app, keys, limits, metrics
        self._local = None if keys.grants else Grant(namespace)
        self._hosts = LOOPBACK.union(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, begin, status = Headers(scope=scope), time.perf_counter(), 500
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        grant = self._local or self._keys.grant_of(headers.get("authorization", ""))
        scope.setdefault("state", {}).update(request_id=request_id, grant=grant)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                shown = MutableHeaders(scope=message)
                shown["x-request-id"] = request_id
                if sentences:
                    shown["warning"] = ", ".join(f'299 - "{sentence}"' for sentence in sentences)
                for name, value in _HEADERS.items():
                    shown.setdefault(name, value)
            await send(message)

        stream = scope["method"] == "GET" and "text/event-stream" in headers.get("accept", "")
        try:
            with told() as sentences, self._limits.slot(grant, stream=stream) as is_free:
                refused = self._refusal(scope, headers, grant) or (None if is_free else (429, _TOO_MANY))
                if refused:
                    await error_response(request_id, *refused)(scope, receive, answer)
                else:
                    await self._app(scope, bounded(receive, self._limits.body, self._limits.patience), answer)
        finally:
            self._metrics.observe(scope, status, time.perf_counter() - begin)

    def _refusal(self, scope: Scope, headers: Headers, grant: Grant | None) -> tuple[int, str] | None:
        """Return the status and the reason if a request is refused.

        A page of another origin cannot send a key, but without keys it could write. It could also read, if its own
        name pointed to this computer (DNS rebinding).
        """
        host = headers.get("host", "").lower()
        name = _HOST.fullmatch(host)
        if self._local and (name is None or name[1] not in self._hosts):
            return 421, "without keys, this server answers to the names of this computer only"
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            return 403, "a page of another origin may not use this server"
        if headers.get("sec-fetch-site") in {"cross-site", "same-site"} and scope["method"] not in {"GET", "HEAD"}:
            return 403, "a page of another site may not change this memory"
        if refused := self._refused_body(headers, grant):
            return refused
        if grant is not None and not self._limits.admits(grant):
            return 429, f"more than {self._limits.rate:g} requests a second; try again later"
        return None

    def _refused_body(self, headers: Headers, grant: Grant | None) -> tuple[int, str] | None:
        length = headers.get("content-length", "0")
        if grant is None and (length != "0" or "transfer-encoding" in headers):
            return NO_KEY
        return (413, too_long(self._limits.body)) if length.isdecimal() and int(length) > self._limits.body else None
