"""MCP over HTTP: an application for an ASGI server, which `serve` mounts as well."""

from __future__ import annotations

import secrets
from typing import Any

from neurogated.core.extras import needs_extra
from neurogated.errors import ConfigError
from neurogated.integrations.mcp.bodies import Messages
from neurogated.integrations.mcp.server import build
from neurogated.integrations.mcp.tools import ServedOwner
from neurogated.memory import NeuroGraphMemory

with needs_extra("mcp"):
    from mcp.server import MCPServer
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import PlainTextResponse
    from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def http_app(
    memory: NeuroGraphMemory,
    *,
    owner: ServedOwner | None = None,
    read_only: bool = False,
    memory_tool: bool = False,
    host: str = "127.0.0.1",
    token: str | None = None,
    path: str = "/mcp",
) -> Starlette:
    """Return an application that serves MCP; its lifespan must run.

    Args:
        memory: the memory. The caller closes it.
        owner: the user and the path that it shows; memories of no user when left out.
        read_only: serve no tool that changes the memory.
        memory_tool: serve Anthropic's memory tool as well.
        host: the address that clients name; requests for other hosts and from pages of other origins are refused.
        token: what clients must send as `Authorization: Bearer …`.
        path: where it listens.

    Raises:
        ConfigError: the host is not the loopback, and there is no token.
    """
    server = build(memory, owner, read_only=read_only, memory_tool=memory_tool)
    return secured(server, host=host, token=token, path=path)


def secured(server: MCPServer[Any], *, host: str, token: str | None, path: str = "/mcp") -> Starlette:
    """Return the application of a server, with its checks; see `http_app`."""
    if not is_loopback(host) and not token:
        raise ConfigError(
            f"the host {host} is not the loopback, so set a token: clients beyond this machine must send it"
        )
    names = _LOOPBACK if is_loopback(host) else (host,)
    security = TransportSecuritySettings(
        allowed_hosts=[allowed for name in names for allowed in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{name}{port}" for name in names for scheme in ("http", "https") for port in ("", ":*")
        ],
    )
    app = server.streamable_http_app(streamable_http_path=path, host=host, transport_security=security)
    app.add_middleware(Messages)
    if token:
        app.user_middleware.insert(0, Middleware(_Bearer, token=token))
    return app


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine reach a host."""
    return host in {*_LOOPBACK, "::1"}


class _Bearer:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not secrets.compare_digest(given, self._wanted):
            refusal = PlainTextResponse("the token is missing or wrong", 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)
