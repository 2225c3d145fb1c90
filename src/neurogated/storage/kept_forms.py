"""Working forms kept beside a memory file, so that opening it need not make them anew.

What is kept is derived and may be lost at any time. Each state is a folder of its own, named by its namespace and the
last delta it holds, and complete once its note is there; the note has a checksum of every file.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurogated.storage.columns import Column
from neurogated.storage.derived import Frozen
from neurogated.storage.sqlite_following import KeyedForm
from neurogated.storage.sqlite_loading import Keys
from neurogated.storage.topology_files import map_array, save_array
from neurogated.storage.working_form import WorkingForm

__all__ = ["FORM_FOLDER", "FrozenForm", "KeptForms", "Stamp"]

_log = logging.getLogger(__name__)

_FORMAT = 1
_NOTE = "kept.json"
_PARTIAL = ".partial"
FORM_FOLDER = "form"
"""Where in a kept folder the form itself is."""
_NODE_KEYS = "node_keys"
_EDGE_KEYS = "edge_keys"
_READ_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which state of which graph it is; another history of the same memory differs in when the delta was made."""

    generation: str
    namespace: int
    sequence: int
    at: int
    """When the delta number `sequence` was made, in microseconds."""


@dataclass(frozen=True, slots=True)
class FrozenForm:
    """A working form at one moment, with the file's numbers of its rows."""

    stamp: Stamp
    form: Frozen
    node_keys: Keys
    edge_keys: Keys

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write all files and the note on them into `folder`; see `derived.Frozen`."""
        (folder / FORM_FOLDER).mkdir()
        self.form.write(folder / FORM_FOLDER, None if previous is None else previous / FORM_FOLDER)
        save_array(folder, _NODE_KEYS, self.node_keys)
        save_array(folder, _EDGE_KEYS, self.edge_keys)
        stamp = self.stamp
        note = {
            "format": _FORMAT,
            "generation": stamp.generation,
            "namespace": stamp.namespace,
            "sequence": stamp.sequence,
            "at": stamp.at,
            "files": _checksums(folder),
        }
        (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")


class KeptForms:
    """The folder beside a memory file."""

    def __init__(self, memory: Path) -> None:
        """Keep forms beside the file `memory`."""
        self._folder = memory.with_suffix(".index")

    def load(
        self,
        load_form: Callable[[Path], WorkingForm],
        generation: str,
        namespace: int,
        made_at: Callable[[int], int | None],
    ) -> KeyedForm | None:
        """Return the latest form of a graph that is whole and of its history, None if there is none.

        Args:
            load_form: reads a form from its folder, with the settings that count.
            generation: of the memory.
            namespace: the file's number of the graph.
            made_at: tells when a delta of the graph was made, None where there is no such delta.
        """
        for folder in self._folders(namespace):
            try:
                note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
                if note["format"] != _FORMAT or note["generation"] != generation:
                    continue
                if note["at"] != made_at(note["sequence"]):
                    continue
                _verify(folder, note["files"])
                form = load_form(folder / FORM_FOLDER)
                keys = (Column.of(map_array(folder, name)) for name in (_NODE_KEYS, _EDGE_KEYS))
                return KeyedForm(form, *keys)
            except (OSError, ValueError, KeyError, TypeError) as error:
                # Whatever is wrong with it, it can be made anew.
                _log.warning("what was kept in %s cannot be used (%s); it is made anew", folder, error)
        return None

    def write(self, frozen: FrozenForm, is_wanted: Callable[[], bool]) -> Path | None:
        """Write a form, and return its folder; None if it is not wanted any more once it is written.

        Raises:
            OSError: it cannot be written; nothing of it is left.
        """
        stamp = frozen.stamp
        folder = self._folder / f"{stamp.namespace}-{stamp.sequence}"
        draft = folder.with_name(folder.name + _PARTIAL)
        previous = next(iter(self._folders(stamp.namespace)), None)
        _remove(draft)
        try:
            draft.mkdir(parents=True)
            frozen.write(draft, previous)
            if not is_wanted():
                return None
            _remove(folder)
            draft.rename(folder)
            return folder
        finally:
            _remove(draft)

    def tidy(self, namespace: int) -> None:
        """Remove what is left of a graph but its latest form."""
        kept = self._folders(namespace)[:1]
        for folder in self._all(namespace):
            if folder not in kept:
                _remove(folder)

    def drop(self, namespace: int | None = None) -> None:
        """Remove all that is kept, of one graph or of all."""
        if namespace is None:
            _remove(self._folder)
        else:
            for folder in self._all(namespace):
                _remove(folder)

    def size(self) -> int:
        """Return how many bytes it takes on disk."""
        found = 0
        for file in self._folder.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                found += file.stat().st_size if file.is_file() else 0
        return found

    def _all(self, namespace: int) -> list[Path]:
        return list(self._folder.glob(f"{namespace}-*"))

    def _folders(self, namespace: int) -> list[Path]:
        """Return the folders of a graph that are complete, the latest first."""
        found = [folder for folder in self._all(namespace) if folder.suffix != _PARTIAL and (folder / _NOTE).exists()]
        return sorted(found, key=lambda folder: int(folder.name.partition("-")[2]), reverse=True)


def _checksums(folder: Path) -> dict[str, Any]:
    return {
        str(file.relative_to(folder)): [file.stat().st_size, _checksum(file)]
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _verify(folder: Path, files: dict[str, Any]) -> None:
    """Raise ValueError where a file is not what was written."""
    for name, (size, checksum) in files.items():
        file = folder / name
        if file.stat().st_size < size or _checksum(file, size) != checksum:
            raise ValueError(f"{name} is damaged")


def _checksum(file: Path, size: int | None = None) -> int:
    """Return the CRC-32 of the first `size` bytes of a file, of all of it when left out."""
    checksum = 0
    for chunk in _chunks(file, file.stat().st_size if size is None else size):
        checksum = zlib.crc32(chunk, checksum)
    return checksum


def _chunks(file: Path, size: int) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(_READ_AT_ONCE))
    with file.open("rb", buffering=0) as opened:
        while size > 0 and (count := opened.readinto(buffer[: min(size, _READ_AT_ONCE)])):
            yield buffer[:count]
            size -= count


def _remove(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
