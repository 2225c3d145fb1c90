#!/bin/sh
# Package: mcp 2.3.0, pydantic 2.14.4
# Behaviour: A tool that raises tells the client its name only; the words of the exception are left out, except those of a ToolError and those about arguments.
# Guess: M3: 'Error executing tool' and the words of the exception (0.85 for the beginning).
# Seen: 'Error executing tool pay'.
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
from mcp.server.mcpserver.exceptions import ToolError

logging.disable()
server = MCPServer("x")

@server.tool()
def pay(amount: int) -> str:
    raise ValueError("the account is closed")

@server.tool()
def refuse() -> str:
    raise ToolError("the account is closed")

async def call(name="pay", **arguments):
    async with Client(server) as client:
        result = await client.call_tool(name, arguments)
        return result.is_error, result.content[0].text

assert asyncio.run(call(amount=1)) == (True, "Error executing tool pay")
failed, text = asyncio.run(call("refuse"))
assert failed and "the account is closed" in text, text
failed, text = asyncio.run(call())
assert failed and "Field required" in text, text
END
