"""Servers in processes of their own, and clients of the SDK."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession, StdioServerParameters
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp.types import TextResourceContents, Tool

from neurogated.integrations.mcp.server import MemoryServer

T = TypeVar("T")
HASH = ("--embedding_name", "hash")
ACCEPTED = {"Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def opened(by: httpx.Client) -> dict[str, str]:
    """Open a session by HTTP, and return the headers of its requests."""
    session = by.post("/mcp", json=INITIALIZE, headers=ACCEPTED).headers["mcp-session-id"]
    headers = ACCEPTED | {"Mcp-Session-Id": session}
    by.post("/mcp", json=INITIALIZED, headers=headers)
    return headers


@contextlib.asynccontextmanager
async def client_of(folder: Path, *flags: str) -> AsyncIterator[ClientSession]:
    """Start a server on a memory, and yield a client that has shaken hands with it."""
    arguments = ["-m", "neurogated", "mcp", "--save_dir", str(folder), *HASH, *flags]
    server = StdioServerParameters(command=sys.executable, args=arguments, env={"HF_HUB_OFFLINE": "1"})
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


@contextlib.asynccontextmanager
async def client_within(server: MemoryServer, hear: MessageHandlerFnT | None = None) -> AsyncIterator[ClientSession]:
    """Yield a client of a server in this process; `hear` gets the messages that it has not asked for."""
    to_server, from_client = anyio.create_memory_object_stream[Any](10)
    sent, received = anyio.create_memory_object_stream[Any](10)
    low = server._lowlevel_server
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(low.run, from_client, sent, low.create_initialization_options())
        async with ClientSession(received, to_server, message_handler=hear) as client:
            await client.initialize()
            yield client
        tasks.cancel_scope.cancel()


async def call(client: ClientSession, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool, which must succeed, and return its structured result."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


class Client:
    """A client of a server, whose calls block."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self._portal, self.session = portal, session

    def wait(self, method: Callable[..., Awaitable[T]], *given: object, **named: object) -> T:
        return self._portal.call(partial(method, *given, **named))

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return self.wait(call, self.session, tool, **arguments)

    def refused(self, tool: str, **arguments: object) -> str:
        """Call a tool, which must fail, and return what the model reads."""
        result = self.wait(self.session.call_tool, tool, arguments)
        assert result.is_error, result.content
        return str(result.content[0].text)  # type: ignore[union-attr]

    def tools(self) -> dict[str, Tool]:
        return {one.name: one for one in self.wait(self.session.list_tools).tools}

    def read(self, resource: str) -> str:
        (content,) = self.wait(self.session.read_resource, resource).contents
        assert isinstance(content, TextResourceContents)
        return content.text


@contextlib.contextmanager
def connected(opened: contextlib.AbstractAsyncContextManager[ClientSession]) -> Iterator[Client]:
    """Give what `client_of` or `client_within` yields as a client whose calls block."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened) as session:
        yield Client(portal, session)
