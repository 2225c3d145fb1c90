"""Both stores of the project pass the conformance kit."""

import contextlib
import shutil
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from graph_store_kit import GraphStoreContract, store_machine
from neurogated import GraphStore
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.storage.sqlite_store import SqliteStore
from tests.storage.short_machine import shortened

pytestmark = pytest.mark.usefixtures("small_overlay")

_places: WeakKeyDictionary[GraphStorePort, tuple[Path, Clock]] = WeakKeyDictionary()


def _in_memory(folder: Path, *, clock: Clock) -> GraphStorePort:  # noqa: ARG001 - it writes nothing
    return GraphStore(clock=clock)


def _on_disk(folder: Path, *, clock: Clock) -> GraphStorePort:
    store = SqliteStore.open(folder / "memory.db", clock=clock)
    _places[store] = folder, clock
    return store


def _kept(folder: Path, *, clock: Clock) -> GraphStorePort:
    """Open a store that writes a checkpoint after every few changes, and is opened from it."""
    store = SqliteStore.open(
        folder / "memory.db",
        config=MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=2)),
        clock=clock,
    )
    _places[store] = folder, clock
    return store


def _reopen(store: GraphStorePort) -> GraphStorePort:
    folder, clock = _places[store]
    is_kept = (folder / "memory.index").exists()
    store.close()
    return _kept(folder, clock=clock) if is_kept else _on_disk(folder, clock=clock)


def _kill(store: GraphStorePort) -> GraphStorePort:
    """Return a store on a copy of the files of the open store."""
    folder, clock = _places[store]
    (left := folder / "left").mkdir()
    if is_kept := (folder / "memory.index").exists():
        # A file that is being written may be copied by half.
        with contextlib.suppress(shutil.Error, FileNotFoundError):
            shutil.copytree(folder / "memory.index", left / "memory.index")
    for path in folder.iterdir():
        if path.is_file() and path.suffix != ".lock":
            shutil.copy(path, left)
    store.close()
    return _kept(left, clock=clock) if is_kept else _on_disk(left, clock=clock)


class TestGraphStore(GraphStoreContract):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _in_memory(folder, clock=clock)


class TestSqliteStore(GraphStoreContract):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _on_disk(folder, clock=clock)

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        return _reopen(store)

    def kill(self, store: GraphStorePort) -> GraphStorePort:
        return _kill(store)


class TestKeptStore(TestSqliteStore):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _kept(folder, clock=clock)


TestGraphStoreMachine = store_machine(open_store=_in_memory).TestCase
TestSqliteStoreMachine = pytest.mark.slow(
    shortened(store_machine(open_store=_on_disk, reopen=_reopen, kill=_kill).TestCase)
)
TestKeptStoreMachine = pytest.mark.slow(shortened(store_machine(open_store=_kept, reopen=_reopen, kill=_kill).TestCase))
