"""`McpServers`: MCP over HTTP beside the routes. Each user has a server of her own, started by her first request."""

import contextlib
import math
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio
from anyio.abc import TaskStatus

from neurogated.core.extras import import_extra, needs_extra
from neurogated.integrations.mcp.stdio import refusal_of
from neurogated.server.callers import Caller, Grant, caller_of, grant_in
from neurogated.server.errors import handle_errors

with needs_extra("serve"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MOST, _MOST_SESSIONS = 200, 1_000
"""Servers of one key that run at once, as a key for all users may name any number of users; and sessions of each."""
_IDLE = 1_800.0
"""Seconds after its last request at which a session or a server ends."""


@dataclass(eq=False)
class _Server:
    """A running server."""

    app: ASGIApp
    scope: anyio.CancelScope
    requests: int = 0
    """Those that it is answering."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests, self.scope.deadline = self.requests + 1, math.inf
        try:
            await self.app(scope, receive, send)
        finally:
            self.requests -= 1
            if not self.requests:
                self.scope.deadline = anyio.current_time() + _IDLE


class McpServers:
    """An ASGI app. Its requests carry the same keys as those of the routes."""

    def __init__(self, path: str, body: int) -> None:
        """Take the path at which it is mounted, and the most bytes of a body."""
        self._path, self._body = path, body
        # By key and user, the last used ones last.
        self._servers = defaultdict[Grant, dict[str | None, _Server]](dict)
        self._starting = anyio.Lock()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start servers while this context lasts, and stop them at its end."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as the user of its key."""
        # A body that is refused is refused here, where its error is answered as any other.
        unread, request = [await receive()], Request(scope)

        async def replayed() -> Message:
            return unread.pop() if unread else await receive()

        caller = await caller_of(await grant_in(request), request, request.query_params.get("user_id"))
        if scope["method"] == "POST" and (refusal := refusal_of(unread[0].get("body", b""))) is not None:
            await JSONResponse(refusal, 400)(scope, receive, send)
            return
        async with self._starting:
            servers = self._servers[caller.grant]
            server = servers.pop(caller.user_id, None)
            if server is None or server.scope.cancel_called:
                server = await self._tasks.start(self._run, caller)
            servers[caller.user_id] = server
            if len(servers) > _MOST:
                servers.pop(next(iter(servers))).scope.cancel()
        await server.answer(scope, replayed, send)

    async def _run(self, caller: Caller, *, task_status: TaskStatus[_Server]) -> None:
        """Run the server of one user until it is cancelled, or nobody has used it for a while."""
        app = await anyio.to_thread.run_sync(self._build, caller)
        with anyio.CancelScope() as scope:
            async with app.router.lifespan_context(app):
                server = _Server(app, scope)
                task_status.started(server)
                await anyio.sleep_forever()
        servers = self._servers[caller.grant]
        if servers.get(caller.user_id) is server:
            del servers[caller.user_id]

    def _build(self, caller: Caller) -> Starlette:
        server, tools = (import_extra(f"neurogated.integrations.mcp.{name}", "mcp") for name in ("server", "tools"))
        security = import_extra("mcp.server.transport_security", "mcp")
        owner = tools.ServedOwner(caller.user_id)
        built = server.build(caller.memory, owner, read_only=caller.memory.config.read_only, run=caller.run_as)
        app: Starlette = built.streamable_http_app(
            streamable_http_path=self._path,
            max_request_body_size=self._body,
            session_idle_timeout=_IDLE,
            max_sessions=_MOST_SESSIONS,
            # The guard has checked hosts and origins already; the hosts of a server with keys are unknown here.
            transport_security=security.TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        handle_errors(app)
        return app
