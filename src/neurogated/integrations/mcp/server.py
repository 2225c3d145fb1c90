"""The server: tools, resources and prompts of one owner, built on the SDK."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from neurogated.core.extras import needs_extra
from neurogated.errors import NeurogatedError
from neurogated.integrations.mcp.prepared import INSTRUCTIONS, NAME, TITLE, capabilities
from neurogated.integrations.mcp.tools import Owner, Tools
from neurogated.memory import NeuroGraphMemory
from neurogated.version import __version__

with needs_extra("mcp"):
    from mcp.server import MCPServer
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
    from mcp.types import Tool, ToolAnnotations

MANIFEST = "memory://manifest"
# Claude Code defers the tools of a server behind a search unless they say so.
_META = {"anthropic/alwaysLoad": True}
_READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_CHANGE = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


class MemoryServer(MCPServer[Any]):
    """The tools of one owner, listed in few characters."""

    async def list_tools(self) -> list[Tool]:
        """Return the tools; titles in schemas repeat the names of fields, and every client pays for them."""
        return [
            tool.model_copy(
                update={
                    "input_schema": _untitled(tool.input_schema),
                    "output_schema": _untitled(tool.output_schema),
                }
            )
            for tool in await super().list_tools()
        ]


def build(memory: NeuroGraphMemory, owner: Owner | None = None, *, read_only: bool = False) -> MCPServer[Any]:
    """Return a server that shows the memories of one owner.

    Args:
        memory: the memory. The caller closes it after the server has ended.
        owner: the user and the path within which it reads and writes; memories of no user when left out.
        read_only: serve no tool that changes the memory.
    """
    tools = Tools(memory, owner or Owner(), read_only=read_only)
    server = MemoryServer(
        NAME,
        title=TITLE,
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        middleware=[_announce],
        lifespan=lambda _: tools.loading(),
    )
    reading = ((tools.recall, _READ), (tools.context, _READ))
    writing = ((tools.remember, _ADD), (tools.correct, _CHANGE), (tools.feedback, _ADD))
    for function, effect in reading if read_only else (*reading, *writing):
        server.add_tool(_explained(function), annotations=effect, meta=_META)
    _add_resources(server, tools)
    _add_prompts(server)
    return server


async def _announce(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Say in the answer to `initialize` that lists change; the SDK says so only to stateless clients."""
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        result["capabilities"] = capabilities(subscribe=False)
    return result


def _untitled(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without the titles that pydantic derives from names."""
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {field: _untitled(one) for field, one in value.items()} if name == "properties" else _untitled(value)
        for name, value in schema.items()
        if name != "title"
    }


def _explained(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool whose errors the model reads."""

    @functools.wraps(function)
    def call(**arguments: Any) -> Any:  # noqa: ANN401 - the result of any tool
        try:
            return function(**arguments)
        except NeurogatedError as error:
            raise ToolError(str(error)) from error

    return call


def _add_resources(server: MCPServer[Any], tools: Tools) -> None:
    @server.resource("memory://{id}", name="memory", description="One memory by its id", mime_type="text/plain")
    def memory(id: str) -> str:  # noqa: A002 - the name in the template
        try:
            return tools.get(id).content
        except NeurogatedError as error:
            raise ResourceNotFoundError(str(error)) from error


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt(description="Answer a question from the memory, with the ids of the memories used")
    def ask_memory(question: str) -> str:
        return f"Call `recall` with this question, and answer only from what it finds; name the ids.\n\n{question}"

    @server.prompt(description="Keep what this conversation taught")
    def keep_what_matters() -> str:
        return (
            "Go through this conversation. Call `remember` for each lasting fact, preference or decision that is not "
            "yet remembered, and `correct` for memories that it proves outdated."
        )

    @server.prompt(description="Settle the open conflicts of the memory with the user")
    def settle_conflicts(task: str = "everything") -> str:
        return (
            f"Call `context` with the task {task!r}. Ask the user each open question in `conflicts`, one at a time, "
            "and settle it by `correct` with the action `resolve`."
        )
