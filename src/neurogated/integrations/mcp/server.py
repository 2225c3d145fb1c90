"""The server: tools, resources and prompts of one owner, built on the SDK."""

import contextlib
import importlib
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread

from neurogated.core.extras import needs_extra
from neurogated.core.files import replace_file
from neurogated.core.quoting import quoted_memory
from neurogated.core.scope import ScopeFilter
from neurogated.errors import NeurogatedError
from neurogated.integrations.mcp.stdio import INSTRUCTIONS, NAME, TITLE, Saved, capabilities, with_manifest
from neurogated.integrations.mcp.tools import OperationTool, Run, ServedOwner, Tools
from neurogated.memory import NeuroGraphMemory
from neurogated.sexpr import OPERATIONS
from neurogated.version import __version__

with needs_extra("mcp"):
    from mcp.server import MCPServer
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.mcpserver.exceptions import ResourceNotFoundError
    from mcp.server.session import ServerSession
    from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, Tool, ToolAnnotations

_log = logging.getLogger(__name__)
# Claude Code defers the tools of a server behind a search unless they say so.
_META = {"anthropic/alwaysLoad": True}
_READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_CHANGE = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
_MOST_SESSIONS = 100
_PATIENCE = 1.0  # seconds for a client that does not read


class Overview:
    """What a server shows of its memory. It changes as seldom as the manifest does, also when the process is restarted.

    Every change of a tool's description costs the client its prompt cache.
    """

    def __init__(self, memory: NeuroGraphMemory, owner: ServedOwner, saved: Saved | None) -> None:
        """Take the text that the client has seen; None if it has seen nothing."""
        self._memory, self._owner = memory, owner
        self.is_shown, self._saved = saved is not None, saved or Saved()
        self._shown: str = self._saved.text
        self._current: str | None = None

    def text(self) -> str:
        """Return the manifest; an empty text if there are no memories."""
        try:
            current = self._memory.manifest.text(**self._owner._asdict()) if self._count() else ""
        except NeurogatedError as error:
            _log.warning("the manifest is left out: %s", error)
            return ""
        saved, config = self._saved, self._memory.config
        if self._current is None:
            # The saved text may stay: deletions remove its file, and few memories are new.
            most = config.manifest.update_threshold if saved.nodes else 1
            is_kept = saved.file is not None and saved.file.exists() and 0 <= self._count() - saved.nodes < most
        else:
            is_kept = current == self._current
        self._current = current
        if is_kept:
            return self._shown
        self._shown, file = current, saved.file
        if file and not config.read_only and file.parent.parent.resolve() == Path(config.save_dir).resolve():
            # A server works as well in a folder in which it cannot write this file.
            with contextlib.suppress(OSError):
                replace_file(file, json.dumps({"nodes": self._count(), "text": self._shown}))
        return self._shown

    def has_changed(self) -> bool:
        """Return whether the text is another than before."""
        before = self._shown
        return self.text() != before

    def _count(self) -> int:
        return self._memory.manifest.get(**self._owner._asdict()).nodes


class MemoryServer(MCPServer[Any]):
    """The tools of one owner, listed in few characters. What it says of the memory follows its manifest."""

    def __init__(
        self, memory: NeuroGraphMemory, tools: Tools, overview: Overview, served: Sequence[OperationTool]
    ) -> None:
        """Take what it serves."""
        self._memory, self._tools, self.overview = memory, tools, overview
        self._bus, self._sessions = InMemorySubscriptionBus(), deque[ServerSession](maxlen=_MOST_SESSIONS)
        super().__init__(
            NAME,
            title=TITLE,
            instructions=INSTRUCTIONS,
            version=__version__,
            log_level="WARNING",
            middleware=[self._introduce],
            subscriptions=self._bus,
            tools=list(served),
            lifespan=lambda _: self._running(),
        )

    async def list_tools(self) -> list[Tool]:
        """Return the tools; titles in schemas repeat the names of fields, and every client pays for them."""
        manifest = await anyio.to_thread.run_sync(self.overview.text)
        return [
            tool.model_copy(
                update={
                    "description": with_manifest(tool.description or "", manifest if tool.name == "recall" else ""),
                    "input_schema": _untitled(tool.input_schema),
                    "output_schema": _untitled(tool.output_schema),
                }
            )
            for tool in await super().list_tools()
        ]

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None, context: Any = None) -> Any:  # noqa: ANN401 - as in the base class
        """Return a prompt; raises MCPError if its name is not known, or an argument is missing."""
        known = [one.name for one in await self.list_prompts()]
        if name not in known:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {name!r:.60}; known are {', '.join(known)}")
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error

    async def _introduce(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Add the manifest to the instructions, and to `initialize` that lists change, which the SDK leaves out."""
        result = await call_next(ctx)
        if ctx.method not in {"initialize", "server/discover"} or not isinstance(result, dict):
            return result
        # On standard input, the client has an answer already, and this one is dropped.
        if not self.overview.is_shown:
            manifest = await anyio.to_thread.run_sync(self.overview.text)
            result["instructions"] = with_manifest(INSTRUCTIONS, manifest)
        if ctx.method == "initialize":
            result["capabilities"] = capabilities(subscribe=False)
            self._sessions.append(ctx.session)
        return result

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """Load the model while the server runs, and tell clients when the manifest has changed."""
        owner = self._tools.owner

        def changed(scope: ScopeFilter) -> None:
            if (scope.user_id, tuple(scope.path)) == (owner.user_id, tuple(owner.path)):
                portal.start_task_soon(self._refresh)

        # The end waits for the model: a native library that loads while Python ends would abort the process.
        async with anyio.create_task_group() as tasks, anyio.from_thread.BlockingPortal() as portal:
            tasks.start_soon(anyio.to_thread.run_sync, self._tools.load)
            unregister = self._memory.manifest.on_change(changed)
            try:
                yield
            finally:
                unregister()

    async def _refresh(self) -> None:
        if not await anyio.to_thread.run_sync(self.overview.has_changed):
            return
        await self._bus.publish(ToolsListChanged())
        for session in tuple(self._sessions):
            try:
                with anyio.move_on_after(_PATIENCE):
                    await session.send_tool_list_changed()
            except Exception as error:  # noqa: BLE001 - whatever a client's end raises, the others are told
                _log.info("a client is not told of the new manifest: %s", error)


def build(
    memory: NeuroGraphMemory,
    owner: ServedOwner | None = None,
    *,
    read_only: bool = False,
    memory_tool: bool = False,
    saved: Saved | None = None,
    run: Run = lambda _, call: anyio.to_thread.run_sync(call),
) -> MemoryServer:
    """Return a server that shows the memories of one owner.

    Args:
        memory: the memory. The caller closes it after the server has ended.
        owner: the user and the path within which it reads and writes; memories of no user when left out.
        read_only: serve no tool that changes the memory.
        memory_tool: serve Anthropic's memory tool as well.
        saved: the manifest that the client has seen already, and where to keep it.
        run: awaits a call of a tool, which blocks; by default in a thread. It also gets the name of the tool.
    """
    tools = Tools(memory, owner or ServedOwner(), read_only=read_only)
    reading = ((tools.recall, _READ), (tools.context, _READ), (tools.memory, _READ if read_only else _CHANGE))
    writing = ((tools.remember, _ADD), (tools.correct, _CHANGE), (tools.feedback, _ADD))
    operations = (one.signature for one in OPERATIONS.values() if not (one.writes and read_only))
    texts: dict[object, str] = {tools.memory: f"{tools.memory.__doc__} Operations: {' '.join(operations)}"}
    served = [
        OperationTool.of(function, run, description=texts.get(function), annotations=effect, meta=_META)
        for function, effect in (reading if read_only else (*reading, *writing))
    ]
    if memory_tool:
        # Its package takes a second to import.
        files = importlib.import_module("neurogated.integrations.anthropic_memory")
        function = files.file_tool(memory, *tools.owner, read_only=read_only)
        served.append(OperationTool.of(function, run, annotations=_READ if read_only else _CHANGE, meta=_META))
    server = MemoryServer(memory, tools, Overview(memory, tools.owner, saved), served)
    _add_resources(server, tools)
    _add_prompts(server)
    return server


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


def _add_resources(server: MemoryServer, tools: Tools) -> None:
    @server.resource("memory://{id}", name="memory", description="One memory by its id", mime_type="text/plain")
    def memory(id: str) -> str:  # noqa: A002 - the name in the template
        try:
            return quoted_memory(tools.get(id))
        except NeurogatedError as error:
            raise ResourceNotFoundError(str(error)) from error

    @server.resource("memory://manifest", description="What the memory holds, by subjects", mime_type="text/plain")
    def manifest() -> str:
        return server.overview.text()


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
