"""Serves our server over HTTP, with the fixtures that the conformance suite calls: those of the SDK's own test server.

Arguments: the folder of the memory, the folder of the package `mcp_everything_server`, the port.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import mcp.server.mcpserver

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli.listening import serve
from neurogated.integrations.mcp import server as mcp_server
from neurogated.server import create_app


def main(folder: str, source: str, port: str) -> None:
    """Serve until the process is told to end."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        server: Any = mcp_server.build(memory)
        # The module adds its fixtures to the server that it makes.
        mcp.server.mcpserver.MCPServer = lambda **_: server  # type: ignore[assignment, misc]
        sys.path.insert(0, source)
        fixtures = importlib.import_module("mcp_everything_server.server")
        # A client of the suite reconnects and asks for the events that it has missed.
        server.streamable_http_app = functools.partial(
            server.streamable_http_app, event_store=fixtures.event_store, retry_interval=100
        )
        mcp_server.build = lambda *_, **__: server
        serve(create_app(memory), "127.0.0.1", int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])
