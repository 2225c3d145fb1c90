"""`McpServers`: MCP over HTTP beside the routes. Each user has a server of her own, started by her first request."""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict
from collections.abc import AsyncIterator

import anyio
from anyio.abc import TaskStatus

from neurogated.core.extras import import_extra, needs_extra
from neurogated.server.callers import Caller, caller_of, grant_in
from neurogated.server.errors import handle_errors

with needs_extra("serve"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

_MOST = 200
"""Servers that run at once. A key for all users may name any number of users."""


class McpServers:
    """An ASGI app. Its requests carry the same keys as those of the routes."""

    def __init__(self, path: str, body: int) -> None:
        """Take the path at which it is mounted, and the most bytes of a body."""
        self._path, self._body = path, body
        self._apps = OrderedDict[tuple[str, str | None], tuple[ASGIApp, anyio.CancelScope]]()
        self._starting = anyio.Lock()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start servers while this context lasts, and stop them at its end."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as the user of its key."""
        request = Request(scope)
        caller = caller_of(grant_in(request), request, request.query_params.get("user_id"))
        await (await self._app_of(caller))(scope, receive, send)

    async def _app_of(self, caller: Caller) -> ASGIApp:
        key = caller.memory.config.namespace, caller.user_id
        async with self._starting:
            if key not in self._apps:
                self._apps[key] = await self._tasks.start(self._run, caller)
            self._apps.move_to_end(key)
            if len(self._apps) > _MOST:
                self._apps.popitem(last=False)[1][1].cancel()
            return self._apps[key][0]

    async def _run(self, caller: Caller, *, task_status: TaskStatus[tuple[ASGIApp, anyio.CancelScope]]) -> None:
        """Run the server of one user until it is cancelled."""
        app = await anyio.to_thread.run_sync(functools.partial(self._build, caller))
        with anyio.CancelScope() as scope:
            async with app.router.lifespan_context(app):
                task_status.started((app, scope))
                await anyio.sleep_forever()

    def _build(self, caller: Caller) -> Starlette:
        server, tools = (import_extra(f"neurogated.integrations.mcp.{name}", "mcp") for name in ("server", "tools"))
        security = import_extra("mcp.server.transport_security", "mcp")
        built = server.build(caller.memory, tools.Owner(caller.user_id), read_only=caller.memory.config.read_only)
        app: Starlette = built.streamable_http_app(
            streamable_http_path=self._path,
            max_request_body_size=self._body,
            # The guard has checked hosts and origins already; the hosts of a server with keys are unknown here.
            transport_security=security.TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        handle_errors(app)
        return app
