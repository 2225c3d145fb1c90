"""`Guard`: what happens to every request before its route: id, origin, key, limits and metrics."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from uuid import uuid4

from neurogated.core.extras import needs_extra
from neurogated.integrations.mcp.bodies import bounded, too_long
from neurogated.operations import told
from neurogated.server.errors import error_response
from neurogated.server.keys import NO_KEY, Grant, Keys
from neurogated.server.limits import Limits
from neurogated.server.metrics import Metrics

with needs_extra("serve"):
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


class Guard:
    """An ASGI middleware around the whole app."""

    def __init__(
        self, app: ASGIApp, *, keys: Keys, namespace: str, limits: Limits, metrics: Metrics, hosts: Collection[str]
    ) -> None:
        """Take the parts.

        Args:
            app: the app.
            keys: the keys. Without any, every request of this computer sees the graph `namespace`.
            namespace: the graph of requests without keys.
            limits: of bodies and of requests in a second.
            metrics: count the requests.
            hosts: names of this server besides those of loopback that requests without keys may ask.
        """
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

        try:
            with told() as sentences, self._limits.slot(grant) as is_free:
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
