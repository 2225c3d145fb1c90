"""Graph indexes kept beside a memory file, so that opening it need not make them anew.

What is kept is derived and may be lost at any time. Each state is a folder of its own, named by its namespace and the
last delta it holds, and complete once its note is there; the note has a checksum of every file.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import StorageError
from neurogated.storage.checkpoint.array_files import load_array, save_array
from neurogated.storage.checkpoint.derived import PartSnapshot
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.sqlite.loading import Keys
from neurogated.storage.log.sqlite.process_lock import ProcessLock

__all__ = ["INDEX_FOLDER", "Checkpoints", "IndexSnapshot", "Stamp", "StateReplacedError"]

_log = logging.getLogger(__name__)

_FORMAT = 1
_NOTE = "kept.json"
_PARTIAL = ".partial"
_NAME = re.compile(r"(?P<namespace>\d+)-(?P<sequence>\d+)", re.ASCII)
INDEX_FOLDER = "form"
"""Where in a kept folder the form itself is."""
_NODE_KEYS = "node_keys.npy"
_EDGE_KEYS = "edge_keys.npy"
_READ_AT_ONCE = 1 << 24
# What reading files raises that hold something else than what was written; whatever lies there can be made anew.
_UNUSABLE = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, OverflowError)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which state of which graph it is; another history of the same memory differs in when the delta was made."""

    generation: str
    namespace: int
    sequence: int
    at: int
    """When the delta number `sequence` was made, in microseconds."""


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """A graph index at one moment, with the file's numbers of its rows."""

    stamp: Stamp
    form: PartSnapshot
    node_keys: Keys
    edge_keys: Keys

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write all files and the note on them into `folder`; see `derived.PartSnapshot`."""
        (folder / INDEX_FOLDER).mkdir()
        self.form.write(folder / INDEX_FOLDER, None if previous is None else previous / INDEX_FOLDER)
        save_array(folder / _NODE_KEYS, self.node_keys)
        save_array(folder / _EDGE_KEYS, self.edge_keys)
        stamp = self.stamp
        note = {
            "format": _FORMAT,
            "generation": stamp.generation,
            "namespace": stamp.namespace,
            "sequence": stamp.sequence,
            "at": stamp.at,
            "files": _checksums(folder, {} if previous is None else _known_checksums(previous)),
        }
        (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")


class StateReplacedError(Exception):
    """A state is gone that was being read."""


class _UnusableError(ValueError):
    """What is kept is of no use; says why."""


class Checkpoints:
    """The folder beside a memory file. Who writes to it holds `exclusively`; others may read meanwhile."""

    def __init__(self, memory: Path) -> None:
        """Keep forms beside the file `memory`."""
        self._folder = memory.with_suffix(".index")
        # Files are linked into a new state only from folders whose checksums were compared or made here.
        self._trusted: dict[int, Path] = {}
        self._lock_path = memory.with_suffix(".index-lock")

    @contextlib.contextmanager
    def exclusively(self, patience: float = MemoryConfig().runtime.write_lock_seconds) -> Iterator[None]:
        """Run a block in which nobody else writes to the folder.

        To be entered before the lock of a graph is taken: whoever writes here takes that meanwhile.

        Raises:
            MemoryLockedError: somebody else has not ended within `patience` seconds.
        """
        # One of its own each time, so that threads exclude each other too, and no interrupt leaves it locked.
        lock = ProcessLock(self._lock_path, f"writes to {self._folder}")
        try:
            lock.acquire(patience)
            yield
        finally:
            lock.close()

    def load(
        self,
        load_form: Callable[[Path], GraphIndex],
        generation: str,
        namespace: int,
        made_at: Callable[[int], int | None],
    ) -> GraphIndex | None:
        """Return the latest form of a graph that is whole and of its history, None if there is none.

        Args:
            load_form: reads a form from its folder, with the settings that count.
            generation: of the memory.
            namespace: the file's number of the graph.
            made_at: tells when a delta of the graph was made, None where there is no such delta.

        Raises:
            StateReplacedError: a process that writes has put a later one in its place; look again.
        """
        self._trusted.pop(namespace, None)
        for folder in self._folders(namespace):
            try:
                index = _load(folder, load_form, generation, made_at)
            except _UNUSABLE as error:
                if not folder.exists():
                    raise StateReplacedError(str(folder)) from error
                _log.warning("what was kept in %s cannot be used (%s); it is made anew", folder, error)
            else:
                self._trusted[namespace] = folder
                return index
        return None

    def write(self, frozen: IndexSnapshot, is_wanted: Callable[[], bool]) -> Path | None:
        """Write a form, and return its folder; None if it is not wanted any more, before it is written or afterwards.

        Raises:
            OSError: it cannot be written; nothing of it is left.
        """
        if not is_wanted():
            return None
        stamp = frozen.stamp
        folder = self._folder / f"{stamp.namespace}-{stamp.sequence}"
        draft = folder.with_name(folder.name + _PARTIAL)
        _remove(draft)
        try:
            draft.mkdir(parents=True)
            previous = self._trusted.get(stamp.namespace)
            frozen.write(draft, previous if previous is not None and (previous / _NOTE).exists() else None)
            if not is_wanted():
                return None
            _remove(folder)
            draft.rename(folder)
        finally:
            _remove(draft)
        self._trusted[stamp.namespace] = folder
        return folder

    def tidy(self, namespace: int) -> None:
        """Remove all states of a graph but the one that was loaded or written here last."""
        kept = self._trusted.get(namespace)
        for folder in self._folders(namespace):
            if folder != kept:
                _remove(folder)

    def sweep(self, namespaces: Collection[int]) -> None:
        """Remove what a process that died has left, and what is kept of graphs that there are not."""
        for folder in self._all():
            name = _NAME.fullmatch(folder.name)
            is_unknown = name is not None and int(name["namespace"]) not in namespaces
            if is_unknown or folder.suffix == _PARTIAL:
                _remove(folder)

    def drop(self, namespace: int | None = None) -> None:
        """Remove all that is kept, of one graph or of all.

        Raises:
            StorageError: it cannot be removed.
        """
        try:
            for folder in self._all(namespace):
                _remove(folder)
            if namespace is None:
                _remove(self._folder)
        except OSError as error:
            raise StorageError(
                f"{self._folder}, which holds words of the memory, cannot be removed ({error}); remove it"
            ) from error
        self._trusted = {number: folder for number, folder in self._trusted.items() if namespace not in (None, number)}

    def size(self) -> int:
        """Return how many bytes it takes on disk."""
        found = 0
        for folder, _, files in os.walk(self._folder):
            for file in files:
                # It may be removed just now.
                with contextlib.suppress(OSError):
                    found += Path(folder, file).stat().st_size
        return found

    def _all(self, namespace: int | None = None) -> list[Path]:
        """Return all folders, or those of one graph; none where there is nothing to be read."""
        try:
            found = sorted(self._folder.iterdir())
        except OSError:
            return []
        wanted = [folder for folder in found if namespace is None or folder.name.startswith(f"{namespace}-")]
        return [folder for folder in wanted if folder.is_dir()]

    def _folders(self, namespace: int) -> list[Path]:
        """Return the folders of a graph that are complete, the latest first."""
        found = [(name, folder) for folder in self._all(namespace) if (name := _NAME.fullmatch(folder.name))]
        return [folder for name, folder in sorted(found, key=lambda pair: int(pair[0]["sequence"]), reverse=True)]


def _load(
    folder: Path, load_form: Callable[[Path], GraphIndex], generation: str, made_at: Callable[[int], int | None]
) -> GraphIndex:
    note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
    if note["format"] != _FORMAT:
        raise _UnusableError(f"its format is {note['format']}, not {_FORMAT}")
    if note["generation"] != generation or note["at"] != made_at(note["sequence"]):
        raise _UnusableError("it is of another state of the memory")
    _verify(folder, note["files"])
    index = load_form(folder / INDEX_FOLDER)
    index.node_keys, index.edge_keys = (Column.of(load_array(folder / name)) for name in (_NODE_KEYS, _EDGE_KEYS))
    return index


def _checksums(folder: Path, known: Mapping[int, list[int]]) -> dict[str, list[int]]:
    """Return size and checksum of every file; those of files that were linked are as `known` by their inodes."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            status = file.stat()
            entry = known.get(status.st_ino)
            # What was damaged since must not get a checksum that fits the damage.
            if entry is None or entry[0] != status.st_size:
                entry = [status.st_size, _checksum(file)]
            found[str(file.relative_to(folder))] = entry
    return found


def _known_checksums(folder: Path) -> dict[int, list[int]]:
    """Return size and checksum, as its note has them, of each file in a folder by its inode."""
    note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
    return {(folder / name).stat().st_ino: entry for name, entry in note["files"].items()}


def _verify(folder: Path, files: Mapping[str, list[int]]) -> None:
    """Raise where a file is not what was written."""
    for name, entry in files.items():
        file = folder / name
        if [file.stat().st_size, _checksum(file)] != entry:
            raise _UnusableError(f"{name} is damaged")


def _checksum(file: Path) -> int:
    """Return the CRC-32 of a file."""
    # Most files are small, and a buffer is filled with zeros first.
    checksum, buffer = 0, memoryview(bytearray(min(_READ_AT_ONCE, file.stat().st_size + 1)))
    with file.open("rb", buffering=0) as opened:
        while count := opened.readinto(buffer):
            checksum = zlib.crc32(buffer[:count], checksum)
    return checksum


def _remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also where another thread does so too."""
    while folder.exists():
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
