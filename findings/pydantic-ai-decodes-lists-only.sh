#!/bin/sh
# Package: pydantic-ai-slim 2.68.0, mcp 2.3.0
# Behaviour: Texts of MCP tools that are JSON objects or lists are decoded, numbers and truth values stay texts, and structured content takes the place of the words.
# Guess: C6: a text '123' becomes the number (0.6); C7: 'true' becomes True (0.5).
# Seen: Both stay texts; '[1, 2]' is a list, and the words beside structured content are lost.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: 'pydantic-ai-slim[mcp]==2.68.0' mcp==2.3.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
import logging
import mcp_types as types
from mcp.server.mcpserver import MCPServer
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

logging.disable()
server = MCPServer("x")
RESULTS = {"number": ("123", None), "truth": ("true", None), "items": ("[1, 2]", None), "both": ("words", {"a": 1})}

def add(name, text, structure):
    def tool() -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=structure)

    server.add_tool(tool, name=name)

for name, result in RESULTS.items():
    add(name, *result)

async def seen(name):
    def model(messages, info):
        last = messages[-1].parts[-1]
        if last.part_kind == "user-prompt":
            return ModelResponse(parts=[ToolCallPart(name, {})])
        return ModelResponse(parts=[TextPart(repr(last.content))])

    return (await Agent(FunctionModel(model), toolsets=[MCPToolset(server)]).run("x")).output

assert [asyncio.run(seen(name)) for name in RESULTS] == ["'123'", "'true'", "[1, 2]", "{'a': 1}"]
END
