"""Files that exist only in a memory: each is a document, whose path is the path of its scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from neurogated.errors import UnknownIdError
from neurogated.ingestion.contents import read_contents
from neurogated.ingestion.document import Details
from neurogated.ingestion.messages import ORIGINAL
from neurogated.memory import NeuroGraphMemory
from neurogated.session import Notice
from neurogated.text.strings import repaired
from neurogated.utils.hash_utils import compute_mdhash_id

Path = tuple[str, ...]
"""The names of the folders and of the file, from the root."""

_SHOWN_LEVELS = 2


class MemoryFiles:
    """The files of one user and agent. Recalls find their texts. No file of the machine is read or written."""

    def __init__(self, memory: NeuroGraphMemory, user_id: str | None, agent_id: str | None) -> None:
        """Take the owner of the files."""
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


def places(text: str, wanted: str) -> list[int]:
    """Return where `wanted` begins in `text`, also where two of its places overlap."""
    found = [text.find(wanted)] if wanted else [-1]
    while found[-1] >= 0:
        found.append(text.find(wanted, found[-1] + 1))
    return found[:-1]


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
