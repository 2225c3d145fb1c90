"""Anthropic's memory tool for `AsyncAnthropic`; see `anthropic_memory`."""

from __future__ import annotations

from neurogated.core.extras import needs_extra
from neurogated.integrations.anthropic_memory import MemoryTool
from neurogated.memory import NeuroGraphMemory

with needs_extra("anthropic"):
    from anthropic.lib.tools import BetaAsyncAbstractMemoryTool
    from anthropic.types import beta


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """A `MemoryTool`, each command of which runs in a thread of the memory."""

    def __init__(self, memory: NeuroGraphMemory, *, user_id: str | None = None, agent_id: str | None = None) -> None:
        """Take the owner of the files. Agents of one user have separate files."""
        super().__init__()
        self._tool, self._run = MemoryTool(memory, user_id=user_id, agent_id=agent_id), memory.aio.run

    async def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        """Return the numbered lines of a file, or the files of a folder up to two levels deep."""
        return await self._run(self._tool.view, command)

    async def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        return await self._run(self._tool.create, command)

    async def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await self._run(self._tool.str_replace, command)

    async def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line; 0 inserts at the beginning."""
        return await self._run(self._tool.insert, command)

    async def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with its files."""
        return await self._run(self._tool.delete, command)

    async def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder with its files."""
        return await self._run(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete all files."""
        return await self._run(self._tool.clear_all_memory)
