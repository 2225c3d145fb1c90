#!/bin/sh
# Package: mcp 2.3.0, pydantic 2.14.4
# Behaviour: A call of an unknown tool is a result with is_error, while an unknown resource is an error of the protocol.
# Guess: M4: both are errors of the protocol (0.6).
# Seen: 'Unknown tool: x' in a result; MCPError for the resource.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: mcp==2.3.0 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
import logging
from mcp import Client
from mcp.server.mcpserver import MCPServer

logging.disable()
server = MCPServer("x")

from mcp import MCPError

async def ask():
    async with Client(server) as client:
        result = await client.call_tool("x", {})
        assert result.is_error and result.content[0].text == "Unknown tool: x", result
        try:
            await client.read_resource("note://x")
        except MCPError:
            return
        raise AssertionError("the resource was read")

asyncio.run(ask())
END
