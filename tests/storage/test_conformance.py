"""Both stores of the project pass the conformance kit."""

import contextlib
import shutil
from pathlib import Path
from unittest import TestCase

import pytest

from graph_store_kit import GraphStoreContract, store_machine
from neurogated import GraphStore
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.storage.sqlite_store import SqliteStore
from tests.storage.kit import suite

pytestmark = pytest.mark.usefixtures("small_overlay")

OFTEN = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=2))
"""Settings of a store that writes a checkpoint after every few changes, and is opened from it."""


def _in_memory(folder: Path, *, clock: Clock) -> GraphStorePort:  # noqa: ARG001 - it writes nothing
    return GraphStore(clock=clock)


def _kill(_: SqliteStore, folder: Path) -> Path:
    """Return a copy of the files of an open store."""
    (left := folder / "left").mkdir()
    # A file that is being written may be copied by half.
    with contextlib.suppress(shutil.Error, FileNotFoundError):
        shutil.copytree(folder / "memory.index", left / "memory.index")
    for path in folder.iterdir():
        if path.is_file() and path.suffix != ".lock":
            shutil.copy(path, left)
    return left


class TestGraphStore(GraphStoreContract):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _in_memory(folder, clock=clock)


TestGraphStoreMachine = store_machine(open_store=_in_memory).TestCase


def _opened(config: MemoryConfig) -> tuple[type[GraphStoreContract], type[TestCase]]:
    def opening(folder: Path, clock: Clock) -> GraphStorePort:
        return SqliteStore.open(folder / "memory.db", config=config, clock=clock)

    return suite(opening, lambda folder: folder, _kill)


TestSqliteStore, TestSqliteStoreMachine = _opened(MemoryConfig())
TestKeptStore, TestKeptStoreMachine = _opened(OFTEN)
