"""Anthropic's memory tool over a memory, for clients with and without coroutines.

Its files exist only in the memory: each is a document, whose path is the path of its scope.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from neurogated.core.extras import needs_extra
from neurogated.errors import ConfigError, InputError, UnknownIdError
from neurogated.ingestion.contents import read_contents
from neurogated.ingestion.document import Details
from neurogated.ingestion.messages import ORIGINAL
from neurogated.memory import NeuroGraphMemory, awaitable
from neurogated.session.session import Notice
from neurogated.text.strings import repaired
from neurogated.utils.hash_utils import compute_mdhash_id

with needs_extra("anthropic"):
    import pydantic
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types import beta
    from anthropic.types.beta import BetaMemoryTool20250818Command

Path = tuple[str, ...]
"""The names of the folders and of the file, from the root."""

_SHOWN_LEVELS = 2
_ROOT = "memories"
_AROUND = 2  # lines before and after a change that the answer shows


class MemoryFiles:
    """The files of one user and agent. Recalls find their texts. No file of the machine is read or written."""

    def __init__(self, memory: NeuroGraphMemory, user_id: str | None, agent_id: str | None) -> None:
        self.memory, self._user_id, self._agent_id = memory, user_id, agent_id

    def text(self, path: Path) -> str | None:
        """Return the text of a file; None if there is none."""
        try:
            metadata = self.memory.get(self._id(path)).metadata
        except UnknownIdError:
            return None
        return str(json.loads(metadata[ORIGINAL]))

    def below(self, path: Path) -> dict[Path, str]:
        """Return the texts of the file at `path`, or of all files in this folder and its subfolders, by path."""
        nodes = self.memory.find(user_id=self._user_id, agent_id=self._agent_id, path=path)
        found = {own: node for node in nodes if node.id == self._id(own := tuple(node.scope.path))}
        return {own: json.loads(found[own].metadata[ORIGINAL]) for own in sorted(found)}

    def write(self, path: Path, text: str) -> None:
        """Write a file, or replace it."""
        message, details = self._message(path, text)
        self.memory.add(message, **details)

    def move(self, files: Mapping[Path, str], old: Path, new: Path) -> None:
        """Move files from the folder `old` to the folder `new`, all or none."""
        session, removed = self.memory.session, [self._id(path) for path in files]
        moved = (self._message(new + path[len(old) :], text) for path, text in files.items())
        check = session.writer.check_document
        documents = [document for message, details in moved for document in read_contents(message, details, check)]
        with session.runtime.work("moving files"):
            added = session.writer.move(removed, documents)
        session.notify(Notice("deleted", (removed,)))
        session.notify(Notice("added", (added,)))

    def delete(self, paths: Iterable[Path]) -> None:
        """Delete files, all or none."""
        self.memory.delete([self._id(path) for path in paths])

    def _message(self, path: Path, text: str) -> tuple[dict[str, str], Details]:
        """Return the message that stores a file, and its owner and title."""
        shown = repaired(text)
        content = shown if shown.strip() else "(empty)"
        message = {"role": "assistant", "content": content, "id": self._id(path), ORIGINAL: json.dumps(text)}
        title = "/".join(path[1:])
        return message, {"user_id": self._user_id, "agent_id": self._agent_id, "path": path, "title": title}

    def _id(self, path: Path) -> str:
        return compute_mdhash_id(json.dumps([self._user_id, self._agent_id, *path]), prefix="file-")


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Return the lines from `first` to `last`, both from 1, with their numbers."""
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines[first - 1 : last], first))


def listed(folder: Path, files: Mapping[Path, str]) -> str:
    """Return the sizes and paths of a folder's files and folders up to two levels deep."""
    sizes = {folder: 0}
    for path, text in files.items():
        if not any(name.startswith(".") for name in path[len(folder) :]):
            for length in range(len(folder), min(len(path), len(folder) + _SHOWN_LEVELS) + 1):
                sizes[path[:length]] = sizes.get(path[:length], 0) + len(text.encode(errors="replace"))
    lines = [f"{size / 1024:.1f}K\t/{'/'.join(path)}{'/' * (path not in files)}" for path, size in sizes.items()]
    shown = f"/{'/'.join(folder)}"
    return "\n".join(
        [f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:", *lines]
    )


class MemoryTool(BetaAbstractMemoryTool):
    """Give it to `client.beta.messages.tool_runner(tools=[…])`. Recalls of the user find its files, too."""

    def __init__(self, memory: NeuroGraphMemory, *, user_id: str | None = None, agent_id: str | None = None) -> None:
        """Take the owner of the files. Agents of one user have separate files."""
        super().__init__()
        self._files = MemoryFiles(memory, user_id, agent_id)
        self._session = memory.session

    def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        """Return the numbered lines of a file, or the files of a folder up to two levels deep."""
        path = _path(command.path)
        if (text := self._files.text(path)) is None:
            return listed(path, self._existing(command.path))
        lines = text.split("\n")
        first, last = command.view_range or (1, -1)
        shown = numbered(lines, max(1, first), len(lines) if last == -1 else last)
        return f"Here's the content of {command.path} with line numbers:\n{shown}"

    def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        with self._session.exclusively():
            self._files.write(self._free(command.path), command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        old, new = command.old_str, command.new_str
        with self._session.exclusively():
            text = self._text(command.path)
            # Two places may overlap.
            places = re.finditer(f"(?={re.escape(old)})", text) if old else ()
            lines = [text.count("\n", 0, found.start()) + 1 for found in places]
            if len(lines) != 1:
                found = f"is in the lines {', '.join(map(str, lines))}" if lines else "did not appear verbatim"
                raise ToolError(f"No replacement was performed: old_str `{old}` {found} in {command.path}")
            changed = text.replace(old, new)
            self._files.write(_path(command.path), changed)
        shown = numbered(changed.split("\n"), max(1, lines[0] - _AROUND), lines[0] + new.count("\n") + _AROUND)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line; 0 inserts at the beginning."""
        with self._session.exclusively():
            text = self._text(command.path)
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(f"insert_line is {command.insert_line}, but must lie between 0 and {len(lines)}")
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            changed = "\n".join(lines)
            self._files.write(_path(command.path), changed if changed.endswith("\n") else f"{changed}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with its files."""
        with self._session.exclusively():
            self._files.delete(self._movable(command.path))
        return f"Successfully deleted {command.path}"

    def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder with its files."""
        with self._session.exclusively():
            files, old, new = self._movable(command.old_path), _path(command.old_path), self._free(command.new_path)
            if new[: len(old)] == old:
                raise ToolError(f"{command.old_path} cannot move into itself")
            self._files.move(files, old, new)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete all files."""
        with self._session.exclusively():
            self._files.delete(self._files.below((_ROOT,)))
        return "All memory cleared"

    def _existing(self, path: str) -> dict[Path, str]:
        files = self._files.below(_path(path))
        if not files and _path(path) != (_ROOT,):
            raise ToolError(f"The path {path} does not exist")
        return files

    def _movable(self, path: str) -> dict[Path, str]:
        if _path(path) == (_ROOT,):
            raise ToolError(f"The directory /{_ROOT} itself stays")
        return self._existing(path)

    def _text(self, path: str) -> str:
        if (text := self._files.text(_path(path))) is None:
            raise ToolError(f"The path {path} is no file")
        return text

    def _free(self, path: str) -> Path:
        free = _path(path)
        above = [free[:length] for length in range(1, len(free))]
        if free == (_ROOT,) or self._files.below(free) or any(self._files.text(one) is not None for one in above):
            raise ToolError(f"File {path} already exists, or one of its directories is a file")
        return free


def _path(path: str) -> Path:
    """Return the names of a path; no file of the machine has it, so `..` has no meaning."""
    start, *names = path.split("/")
    if start or names[:1] != [_ROOT] or {".", ".."}.intersection(names) or "\0" in path:
        raise ToolError(f"Path must start with /{_ROOT} and stay below it, got: {path}")
    return tuple(filter(None, names))


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """A `MemoryTool`, each command of which runs in a thread of the memory."""

    def __init__(self, memory: NeuroGraphMemory, *, user_id: str | None = None, agent_id: str | None = None) -> None:
        super().__init__()
        self.memory, self.run = MemoryTool(memory, user_id=user_id, agent_id=agent_id), memory.aio.run

    view = awaitable(MemoryTool.view)
    create = awaitable(MemoryTool.create)
    str_replace = awaitable(MemoryTool.str_replace)
    insert = awaitable(MemoryTool.insert)
    delete = awaitable(MemoryTool.delete)
    rename = awaitable(MemoryTool.rename)
    clear_all_memory = awaitable(MemoryTool.clear_all_memory)


_COMMAND = pydantic.TypeAdapter[Any](BetaMemoryTool20250818Command)


def file_tool(
    memory: NeuroGraphMemory, user_id: str | None, path: Sequence[str], *, read_only: bool
) -> Callable[..., str]:
    """Return the tool for the files of a user, as a function for a server of MCP.

    Raises:
        ConfigError: there is a path; files belong to users.
    """
    if path:
        raise ConfigError(f"the files of the memory tool belong to a user, not to a project: {'/'.join(path)}")
    files = MemoryTool(memory, user_id=user_id)

    def memory_files(
        *,
        command: Literal["view", "create", "str_replace", "insert", "delete", "rename"],
        path: str | None = None,
        view_range: list[int] | None = None,
        file_text: str | None = None,
        old_str: str | None = None,
        new_str: str | None = None,
        insert_line: int | None = None,
        insert_text: str | None = None,
        old_path: str | None = None,
        new_path: str | None = None,
    ) -> str:
        """Read and write notes as text files below /memories. `rename` takes old_path and new_path, all else path."""
        given = {name: value for name, value in locals().items() if value is not None}
        if read_only and command != "view":
            raise InputError(f"{command} changes files, but only reading is allowed here")
        try:
            return str(files.execute(_COMMAND.validate_python(given)))
        except pydantic.ValidationError as error:
            # The errors are those of all commands; the model of `str_replace` has a name with `StrReplace`.
            own = [one["loc"] for one in error.errors() if command.replace("_", "") in str(one["loc"][0]).lower()]
            raise InputError(f"{command} needs {', '.join(str(place[-1]) for place in own)}") from None
        except ToolError as error:
            raise InputError(str(error)) from error

    return memory_files
