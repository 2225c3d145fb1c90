"""From the name of a storage to the opened store; its package is imported here and not before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsTransaction
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError

__all__ = ["consistent_snapshot", "memory_exists", "open_store", "restore_store"]

_FOLDER = "memory"
_FILE = "memory.db"
_COPY = "copy.snapshot"


def memory_exists(config: MemoryConfig) -> bool:
    """Return whether there is a memory where `config` says."""
    return config.storage != "memory" and _path(config).exists()


def _path(config: MemoryConfig) -> Path:
    return Path(config.save_dir) / _FOLDER / _FILE


def open_store(config: MemoryConfig, clock: Clock) -> GraphStorePort:
    """Open the store that `config.storage` names, in `config.namespace`.

    The durable store is the file `<save_dir>/memory/memory.db`; with `force_index_from_scratch` a file that is there
    is dropped first.

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
    """Give one state of a store, all namespaces at the same moment, to be read while others go on writing.

    Of the durable store it is a snapshot; with another one, writers wait until the block ends where it has
    transactions.

    Args:
        store: any graph of the memory.
        folder: an empty one that there is; whoever made it deletes it afterwards with what is in it.

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


def restore_store(config: MemoryConfig, snapshot: Path) -> None:
    """Put a snapshot in the place of the memory that `config` names, or make it the memory where there is none.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: the snapshot is damaged or none; the memory is unharmed.
        StorageError: it cannot be read, or the memory not be written.
    """
    if config.storage == "memory":
        raise ConfigError("a memory with storage='memory' is in no file; set storage to 'sqlite' to restore a snapshot")
    from neurogated.storage.log.sqlite.snapshot import restore_snapshot

    restore_snapshot(snapshot, _path(config))
