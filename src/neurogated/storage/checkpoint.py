"""Checkpoints: the index of a graph on disk, the background jobs that write it, and what follows a log from there."""

import contextlib
import json
import logging
import os
import re
import shutil
import threading
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.files import make_folder, write_text
from neurogated.errors import MemoryLockedError, StorageError
from neurogated.storage.files import ProcessLock, Write, load_array, save_array
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph.topology import Column
from neurogated.storage.index.graph_index import GraphIndex, Records
from neurogated.utils.background import JOB_FAILURES, started

_log = logging.getLogger(__name__)

_FORMAT = 2
_NOTE = "kept.json"
_PARTIAL = ".partial"
_NAME = re.compile(r"(?P<namespace>\d+)-(?P<sequence>\d+)", re.ASCII)
INDEX_FOLDER = "form"
"""The subfolder of a checkpoint that holds the index itself."""
_NODE_KEYS = "node_keys.npy"
_EDGE_KEYS = "edge_keys.npy"
_READ_AT_ONCE = 1 << 24
# The exceptions of reading a damaged or foreign file. Any checkpoint can be rebuilt.
_UNUSABLE = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, OverflowError)


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """A graph index at one moment, with the file's key of every row."""

    generation: str
    namespace: int
    sequence: int
    at: int
    """When the delta `sequence` was made, in microseconds; it tells another history of the same memory apart."""
    write_form: Write
    node_keys: NDArray[np.int64]
    edge_keys: NDArray[np.int64]

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write all files and their note into `folder`; see `Write`."""
        make_folder(folder / INDEX_FOLDER)
        self.write_form(folder / INDEX_FOLDER, None if previous is None else previous / INDEX_FOLDER)
        save_array(folder / _NODE_KEYS, self.node_keys)
        save_array(folder / _EDGE_KEYS, self.edge_keys)
        known = {}
        if previous is not None:
            note = json.loads((previous / _NOTE).read_text(encoding="utf-8"))
            known = {(previous / name).stat().st_ino: entry for name, entry in note["files"].items()}
        found = {}
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                status = file.stat()
                entry = known.get(status.st_ino)
                # A file damaged since it was written must not get a checksum that matches the damage.
                if entry is None or entry[0] != status.st_size:
                    entry = [status.st_size, _checksum(file)]
                found[str(file.relative_to(folder))] = entry
        stamp = {name: getattr(self, name) for name in ("generation", "namespace", "sequence", "at")}
        write_text(folder / _NOTE, json.dumps({"format": _FORMAT, **stamp, "files": found}))


class StateReplacedError(Exception):
    """Another process replaced the checkpoint while it was read."""


class Checkpoints:
    """The checkpoint folder beside a memory file. A writer holds `exclusively`; others may read meanwhile."""

    def __init__(self, memory: Path) -> None:
        """Keep checkpoints beside the file `memory`."""
        self._folder = memory.with_suffix(".index")
        # By namespace. Only their files are linked into a new checkpoint: this process verified or wrote them.
        self._trusted: dict[int, Path] = {}
        self._lock_path = memory.with_suffix(".index-lock")

    @contextlib.contextmanager
    def exclusively(self, patience: float = MemoryConfig().runtime.write_lock_seconds) -> Iterator[None]:
        """Run a block in which nobody else writes to the folder.

        Enter it before taking the lock of a graph: a checkpoint thread takes the lock of the graph within this block.

        Raises:
            MemoryLockedError: another writer has not finished within `patience` seconds.
        """
        # A new lock for each call, so that threads exclude each other too, and no interrupt leaves the folder locked.
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
        """Return the index from the latest sound checkpoint of a graph and its history; None if there is none.

        `load_form` reads an index from its folder, with the current settings. `made_at` returns when a delta of the
        graph was made; None if there is no such delta.

        Raises:
            StateReplacedError: another process replaced the checkpoint by a later one; load again.
        """
        self._trusted.pop(namespace, None)
        for folder in self._folders(namespace):
            try:
                note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
                if note["format"] != _FORMAT:
                    raise ValueError(f"its format is {note['format']}, not {_FORMAT}")
                if note["generation"] != generation or note["at"] != made_at(note["sequence"]):
                    raise ValueError("it belongs to another state of the memory")
                for name, entry in note["files"].items():
                    file = folder / name
                    if [file.stat().st_size, _checksum(file)] != entry:
                        raise ValueError(f"{name} is damaged")
                index = load_form(folder / INDEX_FOLDER)
                keys = (Column.of(load_array(folder / name)) for name in (_NODE_KEYS, _EDGE_KEYS))
                index.node_keys, index.edge_keys = keys
            except _UNUSABLE as error:
                if not folder.exists():
                    raise StateReplacedError(str(folder)) from error
                _log.warning("the checkpoint %s cannot be used (%s); the index is rebuilt", folder, error)
            else:
                self._trusted[namespace] = folder
                return index
        return None

    def write(self, frozen: IndexSnapshot, is_wanted: Callable[[], bool]) -> Path | None:
        """Replace the checkpoint and return its folder; None if `is_wanted` returns false before or after the write.

        Raises:
            OSError: the checkpoint cannot be written; no partial copy is left.
        """
        if not is_wanted():
            return None
        namespace = frozen.namespace
        folder = self._folder / f"{namespace}-{frozen.sequence}"
        draft = folder.with_name(folder.name + _PARTIAL)
        _remove(draft)
        try:
            make_folder(draft)
            previous = self._trusted.get(namespace)
            frozen.write(draft, previous if previous is not None and (previous / _NOTE).exists() else None)
            if not is_wanted():
                return None
            _remove(folder)
            draft.rename(folder)
        finally:
            _remove(draft)
        self._trusted[namespace] = folder
        # This process goes on with the arrays of the earlier one, which it has mapped.
        self.tidy(namespace)
        return folder

    def tidy(self, namespace: int) -> None:
        """Remove all checkpoints of a graph except the one last loaded or written here."""
        kept = self._trusted.get(namespace)
        for folder in self._folders(namespace):
            if folder != kept:
                _remove(folder)

    def sweep(self, namespaces: Collection[int]) -> None:
        """Remove partial checkpoints of dead processes and checkpoints of unknown namespaces."""
        for folder in self._all():
            name = _NAME.fullmatch(folder.name)
            is_unknown = name is not None and int(name["namespace"]) not in namespaces
            if is_unknown or folder.suffix == _PARTIAL:
                _remove(folder)

    def drop(self, namespace: int | None = None) -> None:
        """Remove all checkpoints of one graph or of all graphs.

        Raises:
            StorageError: a checkpoint cannot be removed.
        """
        try:
            for folder in self._all(namespace):
                _remove(folder)
            if namespace is None:
                _remove(self._folder)
        except OSError as error:
            raise StorageError(
                f"{self._folder} contains words of the memory and cannot be removed ({error}); remove it"
            ) from error
        self._trusted = {number: folder for number, folder in self._trusted.items() if namespace not in (None, number)}

    def size(self) -> int:
        """Return the size of the checkpoints on disk in bytes."""
        found = 0
        for folder, _, files in os.walk(self._folder):
            for file in files:
                # Another process may remove the file now.
                with contextlib.suppress(OSError):
                    found += Path(folder, file).stat().st_size
        return found

    def _all(self, namespace: int | None = None) -> list[Path]:
        """Return all folders, or those of one graph; none if the parent folder cannot be read."""
        try:
            found = sorted(self._folder.iterdir())
        except OSError:
            return []
        wanted = [folder for folder in found if namespace is None or folder.name.startswith(f"{namespace}-")]
        return [folder for folder in wanted if folder.is_dir()]

    def _folders(self, namespace: int) -> list[Path]:
        """Return the folders of the complete checkpoints of a graph, latest first."""
        found = [(name, folder) for folder in self._all(namespace) if (name := _NAME.fullmatch(folder.name))]
        return [folder for name, folder in sorted(found, key=lambda pair: int(pair[0]["sequence"]), reverse=True)]


def _checksum(file: Path) -> int:
    # The buffer is no larger than the file: creating it fills it with zeros, and most files are small.
    checksum, buffer = 0, memoryview(bytearray(min(_READ_AT_ONCE, file.stat().st_size + 1)))
    with file.open("rb", buffering=0) as opened:
        while count := opened.readinto(buffer):
            checksum = zlib.crc32(buffer[:count], checksum)
    return checksum


def _remove(folder: Path) -> None:
    """Remove a folder with its content; another thread may remove it at the same time."""
    while folder.exists():
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)


T = TypeVar("T")
S = TypeVar("S")

# Seconds between two checks of whether the holder of the lock cancelled the work.
_PATIENCE = 0.05

# Write a checkpoint once this share of the graph has changed; the next opening replays only later changes.
_SHARE = 1 / 32
# An operator over all edges counts as changes of this share of the graph, because the next opening replays it.
_OPERATOR_SHARE = 1 / 1_000


class _Work(NamedTuple):
    thread: threading.Thread
    cancelled: threading.Event


@dataclass(eq=False, kw_only=True)
class Checkpointer(Generic[S]):
    """Counts the changes of one graph and writes a checkpoint when there are many."""

    graph_lock: threading.RLock
    """Held during each call of the next three functions."""
    freeze: Callable[[], S | None]
    """Returns a snapshot of the index; None if it cannot be checkpointed now."""
    is_current: Callable[[], bool | None] = lambda: True
    """Returns whether the last snapshot still shows the graph."""
    finish: Callable[[Path], None] = lambda _: None
    """Receives what `write` returned."""
    write: Callable[[S, Callable[[], bool]], Path | None]
    """Writes a snapshot, unless the function that it gets returns false; returns None if it wrote nothing."""
    exclusively: Callable[[float], AbstractContextManager[object]] = lambda _: nullcontext()
    """Gives a block, after so many seconds at most, in which nobody else writes checkpoints."""
    least: int
    """The minimum number of changes before a checkpoint."""
    _changes: float = 0.0
    _size: int = 0
    _work: _Work | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, changes: int, operators: int, size: int) -> None:
        """Count changes of a graph with `size` nodes and edges; start a checkpoint if there are many."""
        with self._lock:
            self._size = size
            self._changes += changes + operators * _OPERATOR_SHARE * size
            self._begin_if_due()

    def add_backlog(self, changes: float, size: int) -> None:
        """Add changes that an opening had to replay; the next change or `checkpoint` call includes them."""
        with self._lock:
            self._changes, self._size = self._changes + changes, size

    def checkpoint(self) -> None:
        """Start a checkpoint if there are many changes."""
        with self._lock:
            self._begin_if_due()

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""
        return self._work is not None

    def wait(self) -> None:
        """Wait until the running checkpoint is written; the caller must not hold the lock of the graph."""
        work = self._work
        if work is not None and work.thread is not threading.current_thread():
            work.thread.join()

    def cancel(self) -> None:
        """Cancel the running checkpoint; the caller may hold the lock of the graph."""
        work = self._work
        if work is not None:
            work.cancelled.set()
        self.wait()

    def _begin_if_due(self) -> None:
        if self._is_due() and self._work is None:
            cancelled = threading.Event()
            thread = threading.Thread(target=self._run, args=(cancelled,), name="neurogated-checkpointer")
            if started(thread):
                self._work = _Work(thread, cancelled)

    def _is_due(self) -> bool:
        return self._changes >= max(self.least, _SHARE * self._size)

    def _run(self, cancelled: threading.Event) -> None:
        try:
            while True:
                with self._lock:
                    if not self._is_due() or cancelled.is_set():
                        self._work = None
                        return
                    taken, self._changes = self._changes, 0.0
                try:
                    self._keep(cancelled)
                except MemoryLockedError as error:
                    _log.info("the checkpoint waits for the next change (%s)", error)
                    self.add_backlog(taken, self._size)
                    return
                except JOB_FAILURES as error:
                    _log.warning("a checkpoint could not be written (%r); opening takes longer, nothing is lost", error)
        finally:
            # If a bug raised another exception, later changes start a new thread.
            with self._lock:
                if self._work is not None and self._work.thread is threading.current_thread():
                    self._work = None

    def _keep(self, cancelled: threading.Event) -> None:
        if (frozen := self._in_turn(cancelled, self.freeze)) is None:
            return
        deadline = time.monotonic() + MemoryConfig().runtime.write_lock_seconds
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(self.exclusively(_PATIENCE))
                    break
                except MemoryLockedError:
                    if cancelled.is_set() or time.monotonic() >= deadline:
                        raise
            folder = self.write(frozen, lambda: bool(self._in_turn(cancelled, self.is_current)))
            if folder is not None:
                _log.info("wrote a checkpoint of the graph to %s", folder)
                self._in_turn(cancelled, partial(self.finish, folder))

    def _in_turn(self, cancelled: threading.Event, action: Callable[[], T]) -> T | None:
        """Run an action with the lock of the graph held; None if the checkpoint was cancelled."""
        while not self.graph_lock.acquire(timeout=_PATIENCE):
            if cancelled.is_set():
                return None
        try:
            return None if cancelled.is_set() else action()
        finally:
            self.graph_lock.release()


class Follower(ABC):
    """Builds the index of one store and applies new log entries to it. Callers hold the lock of the engine."""

    checkpointer: Checkpointer[Any] | None = None
    """Writes checkpoints in the background; an index without them is never unloaded."""
    shares = True
    """Whether other threads may read the last published state while one thread holds the lock."""
    borrows = False
    """Whether the index refers to another index, so that every read first catches up and then runs under the lock."""

    @abstractmethod
    def load(self) -> GraphIndex | None:
        """Return an index of the whole log; None if the graph was dropped."""

    @abstractmethod
    def is_behind(self, index: GraphIndex) -> bool:
        """Return whether the log may hold deltas that the index lacks; must be quick."""

    @abstractmethod
    def follow(self, index: GraphIndex) -> bool:
        """Apply new deltas to the index; return False if the index must be reloaded."""

    @abstractmethod
    def records(self, index: GraphIndex) -> Records:
        """Return the records of the index: the fields that its columns do not hold."""

    # For followers that write checkpoints or read records from disk

    def steady(self) -> AbstractContextManager[object]:
        """Prevent other processes from erasing records within the block."""
        return nullcontext()

    def unchanged_since(self) -> float:
        """Return the time, by `time.monotonic`, since which no other process has written to the log."""
        return 0.0

    def is_end(self, sequence: int) -> bool:  # noqa: ARG002 - for followers that may ask without the lock
        """Return whether the log ends with this delta; the caller may lack the lock."""
        return False

    def note(self, plan: Plan, index: GraphIndex) -> None:  # noqa: B027 - only followers with checkpoints need it
        """Record that a plan changed the index."""

    def start(self, index: GraphIndex) -> None:  # noqa: B027 - only followers with checkpoints need it
        """Start a checkpoint if one is due, because the graph is to be closed or unloaded."""

    def may_unload(self, index: GraphIndex) -> bool:
        """Return whether the index may be unloaded now, since neither a checkpoint nor a search uses it."""
        self.start(index)
        return self.checkpointer is not None and not (self.checkpointer.busy or index.vectors.busy)

    def wait(self, index: GraphIndex) -> None:
        """Wait until the checkpoint of the index is written, if one is due; the caller must not hold the lock."""
        if self.checkpointer is not None:
            index.vectors.wait()
            self.start(index)
            self.checkpointer.wait()

    def cancel(self) -> None:
        """Cancel a checkpoint in progress."""
        if self.checkpointer is not None:
            self.checkpointer.cancel()
