#!/bin/sh
# Package: mcp 2.3.0, pydantic 2.14.4
# Behaviour: The text of a result is what the tool returned, and the structured content what its annotation makes of it: coerced, without unknown keys, and in a list without the fields of a subclass, which one returned alone keeps.
# Guess: MU4: a subclass loses its own fields in structured content (0.7).
# Seen: {'a': 7} beside a text with '7' and a key more; the fields of a subclass are in the structured content alone, and in a list only in the text.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: mcp==2.3.0 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
import json
import logging
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

logging.disable()
server = MCPServer("x")


class Note(BaseModel):
    a: int = 1


class Longer(Note):
    b: str = "own"


@server.tool()
def loose() -> Note:
    return {"a": "7", "z": 1}


@server.tool()
def alone() -> Note:
    return Longer()


@server.tool()
def several() -> list[Note]:
    return [Longer()]


async def call(name):
    async with Client(server) as client:
        result = await client.call_tool(name, {})
        return json.loads(result.content[0].text), result.structured_content


assert asyncio.run(call("loose")) == ({"a": "7", "z": 1}, {"a": 7}), asyncio.run(call("loose"))
assert asyncio.run(call("alone")) == ({"a": 1, "b": "own"}, {"a": 1, "b": "own"}), asyncio.run(call("alone"))
assert asyncio.run(call("several")) == ({"a": 1, "b": "own"}, {"result": [{"a": 1}]}), asyncio.run(call("several"))
END
