#!/bin/sh
# Package: mcp 2.3.0, pydantic 2.14.4
# Behaviour: A model for an elicitation may have an Optional text, and neither a list of texts nor an Enum: the call is then an error.
# Guess: MC12: a list of texts is admitted (0.5).
# Seen: is_error for the list and the Enum.
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

from enum import Enum
from typing import Optional


class Color(Enum):
    RED = "red"


class Maybe(BaseModel):
    name: Optional[str] = None


class Names(BaseModel):
    names: list[str]


class Colored(BaseModel):
    color: Color


def tool(model):
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Who?", model)).action

    return ask


for model in (Maybe, Names, Colored):
    server.add_tool(tool(model), name=model.__name__)


async def answer(ctx, params):
    return ElicitResult(action="accept", content={"names": ["Ann"], "color": "red"})


async def call(name):
    async with Client(server, mode="legacy", elicitation_callback=answer) as client:
        return (await client.call_tool(name, {})).is_error


found = {name: asyncio.run(call(name)) for name in ("Maybe", "Names", "Colored")}
assert found == {"Maybe": False, "Names": True, "Colored": True}, found
END
