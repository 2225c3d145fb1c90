"""Open the store that a configuration names; the package of a store is imported only when it is needed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsTransaction
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError

_FOLDER = "memory"
_FILE = "memory.db"
_COPY = "copy.snapshot"


def memory_exists(config: MemoryConfig) -> bool:
    """Return whether the memory that `config` names exists."""
    return config.storage != "memory" and _path(config).exists()


def namespaces_in(config: MemoryConfig) -> list[str]:
    """Return the names of the graphs in the memory that `config` names; the memory must exist.

    Raises:
        StorageError: the file cannot be opened; see its subclasses.
    """
    from neurogated.storage.sqlite_store import SqliteStore

    # A graph that is not in the file is empty, so it opens fast.
    with SqliteStore.open(_path(config), config.namespace, config=config, read_only=True) as store:
        return store.namespaces()


def _path(config: MemoryConfig) -> Path:
    return Path(config.save_dir) / _FOLDER / _FILE


def open_store(config: MemoryConfig, clock: Clock) -> GraphStorePort:
    """Open the store that `config.storage` names, in `config.namespace`.

    The durable store is the file `<save_dir>/memory/memory.db`; with `force_index_from_scratch` an existing file is
    dropped first.

    Raises:
        StorageError: the file cannot be opened; see its subclasses.
    """
    if config.storage == "memory":
        from neurogated.storage.graph_store import GraphStore

        return GraphStore(namespace=config.namespace, config=config, clock=clock)
    from neurogated.storage.sqlite_store import SqliteStore

    return SqliteStore.open(
        _path(config),
        config.namespace,
        config=config,
        clock=clock,
        from_scratch=config.force_index_from_scratch and not config.read_only,
        read_only=config.read_only,
    )


@contextlib.contextmanager
def consistent_snapshot(store: GraphStorePort, folder: Path) -> Iterator[GraphStorePort]:
    """Give one consistent state of all namespaces of a store to read, while others continue to write.

    A durable store is copied into a snapshot. Any other store is locked by a transaction, if it supports them, so
    writers wait until the block ends.

    Args:
        store: any graph of the memory.
        folder: an existing, empty folder; the caller deletes it afterwards with its content.

    Raises:
        StorageError: there is no room for the snapshot.
    """
    from neurogated.storage.sqlite_store import SqliteStore

    if isinstance(store, SqliteStore):
        store.snapshot(folder / _COPY)
        with SqliteStore.open(folder / _COPY, read_only=True) as copy:
            yield copy
        return
    with store.transaction() if isinstance(store, SupportsTransaction) else contextlib.nullcontext():
        yield store


def restore_store(config: MemoryConfig, snapshot: Path, *, replace: bool = False) -> None:
    """Create the memory that `config` names from a snapshot; with `replace` the snapshot may replace a memory.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: the snapshot is damaged or is not a memory; the memory is unchanged.
        StorageError: the snapshot cannot be read, the memory cannot be written, or it exists and `replace` is not set.
    """
    if config.storage == "memory":
        raise ConfigError("storage='memory' has no file; set storage to 'sqlite' to restore a snapshot")
    from neurogated.storage.log.sqlite.snapshot import restore_snapshot

    restore_snapshot(snapshot, _path(config), replace=replace)
