#!/bin/sh
# Package: mcp 2.3.0, pydantic 2.14.4
# Behaviour: A tool that returns a datetime has no structured content, and its text is JSON with quotes; a list or a number has both.
# Guess: M20: ISO text in both forms (0.8).
# Seen: None, and '"2026-03-18T10:00:00Z"'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: mcp==2.3.0 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
import datetime
import logging
from mcp import Client
from mcp.server.mcpserver import MCPServer

logging.disable()
server = MCPServer("x")

@server.tool()
def when() -> datetime.datetime:
    return datetime.datetime(2026, 3, 18, 10, tzinfo=datetime.timezone.utc)

@server.tool()
def count() -> int:
    return 3

async def call(name):
    async with Client(server) as client:
        result = await client.call_tool(name, {})
        return result.content[0].text, result.structured_content

assert asyncio.run(call("when")) == ('"2026-03-18T10:00:00Z"', None), asyncio.run(call("when"))
assert asyncio.run(call("count")) == ("3", {"result": 3})
END
