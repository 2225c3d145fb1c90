#!/bin/sh
# Package: mcp 2.3.0, pydantic 2.14.4
# Behaviour: `Context.elicit` works for a client with mode='legacy'; for the default mode, which speaks protocol 2026-07-28, it raises NoBackChannelError though the client has a callback.
# Guess: an answer reaches the tool in either mode; seen beside MC4.
# Seen: 'accept' in the old mode; NoBackChannelError in the new one.
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
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitResult
from pydantic import BaseModel

logging.disable()
server = MCPServer("x")


class Name(BaseModel):
    name: str


@server.tool()
async def ask(ctx: Context) -> str:
    return (await ctx.elicit("Who?", Name)).action


async def answer(ctx, params):
    return ElicitResult(action="accept", content={"name": "Ann"})


async def call(mode):
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        return (await client.call_tool("ask", {})).content[0].text


assert asyncio.run(call("legacy")) == "accept"
try:
    asyncio.run(call("auto"))
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert type(error).__name__ == "NoBackChannelError", repr(error)
else:
    raise AssertionError("the elicitation was answered")
END
