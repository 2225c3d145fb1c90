"""Open the store that a configuration names; the package of a store is imported only when it is needed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.clock import Clock, utc_now
from neurogated.core.extras import needs_extra
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from neurogated.storage.durable_store import DurableStore
    from neurogated.storage.neo4j_store import Neo4jStore
    from neurogated.storage.postgres_store import PostgresStore

_FOLDER = "memory"
_FILE = "memory.db"
_COPY = "copy.snapshot"


def memory_exists(config: MemoryConfig) -> bool:
    """Return whether the memory that `config` names exists."""
    if config.storage in ("memory", "sqlite"):
        return config.storage != "memory" and _path(config).exists()
    return _database_store(config.storage).exists(config.storage)


def namespaces_in(config: MemoryConfig) -> list[str]:
    """Return the names of the graphs in the memory that `config` names; the memory must exist.

    Raises:
        StorageError: the file cannot be opened; see its subclasses.
    """
    # A graph that the memory does not have is empty, so it opens fast.
    with contextlib.closing(open_store(config.replace(read_only=True), utc_now)) as store:
        return store.namespaces() if isinstance(store, SupportsNamespaces) else []


def _path(config: MemoryConfig) -> Path:
    return Path(config.save_dir) / _FOLDER / _FILE


def open_store(config: MemoryConfig, clock: Clock) -> GraphStorePort:
    """Open the store that `config.storage` names, in `config.namespace`.

    With `sqlite`, it is the file `<save_dir>/memory/memory.db`. With `force_index_from_scratch`, an existing memory is
    dropped first.

    Raises:
        UnreachableError: its database is away.
        StorageError: the memory cannot be opened; see its subclasses.
        MissingExtraError: the package of the database's driver is not installed.
    """
    from_scratch = config.force_index_from_scratch and not config.read_only
    if config.storage == "memory":
        from neurogated.storage.graph_store import GraphStore

        return GraphStore(namespace=config.namespace, config=config, clock=clock)
    place: Path | str = config.storage
    if config.storage == "sqlite":
        from neurogated.storage.sqlite_store import SqliteStore

        store: type[DurableStore[Any]] = SqliteStore
        place = _path(config)
    else:
        store = _database_store(config.storage)
    return store.open(
        place, config.namespace, config=config, clock=clock, from_scratch=from_scratch, read_only=config.read_only
    )


def _database_store(url: str) -> type[PostgresStore | Neo4jStore]:
    """Return the store of a kind of databases, by the scheme of its URL."""
    if not url.startswith("postgres"):
        with needs_extra("neo4j", use="for a memory in Neo4j"):
            from neurogated.storage.neo4j_store import Neo4jStore

            return Neo4jStore
    with needs_extra("postgres", use="for a memory in PostgreSQL"):
        from neurogated.storage.postgres_store import PostgresStore

        return PostgresStore


@contextlib.contextmanager
def open_alone(config: MemoryConfig) -> Iterator[GraphStorePort | None]:
    """Give the memory file that `config` names for reading, while no process has it open for writing or can open it.

    None if there is no file; the lock makes its folder.

    Raises:
        MemoryLockedError: another store has it open; the message names a process.
        StorageError: it cannot be opened; see its subclasses.
    """
    from neurogated.storage.files import opened_alone

    with opened_alone(_path(config).resolve(), config.runtime.write_lock_seconds):
        if not memory_exists(config):
            yield None
            return
        with contextlib.closing(open_store(config.replace(read_only=True), utc_now)) as store:
            yield store


@contextlib.contextmanager
def consistent_snapshot(store: GraphStorePort, folder: Path) -> Iterator[GraphStorePort]:
    """Give one consistent state of all namespaces of a store to read, while others continue to write.

    A file is copied into a snapshot, and a database is read in one transaction. Any other store is locked by a
    transaction, if it supports them, so writers wait until the block ends.

    The caller deletes `folder`, which exists and is empty, afterwards with its content.

    Raises:
        StorageError: there is no room for the snapshot.
    """
    from neurogated.storage.durable_store import DatabaseStore
    from neurogated.storage.sqlite_store import SqliteStore

    if isinstance(store, SqliteStore):
        store.backup(folder / _COPY)
        with SqliteStore.open(folder / _COPY, read_only=True) as copy:
            yield copy
        return
    if isinstance(store, DatabaseStore):
        with store.still_copy() as copy:
            yield copy
        return
    with store.transaction() if isinstance(store, SupportsNamespaces) else contextlib.nullcontext():
        yield store


def repair_store(config: MemoryConfig) -> None:
    """Repair the memory file that `config` names, after another program wrote to it; see `repair_memory`."""
    if config.storage != "sqlite":
        raise ConfigError("only a memory in a file is repaired; set storage to 'sqlite'")
    from neurogated.storage.log.sqlite.snapshot import repair_file
    from neurogated.storage.sqlite_store import SqliteStore

    def faults(copy: Path) -> list[str]:
        with SqliteStore.open(copy, read_only=True) as store:
            return store.check()

    if not _path(config).exists():
        raise StorageError(f"there is no memory in {config.place}; check save_dir")
    repair_file(_path(config), faults)


def restore_store(config: MemoryConfig, snapshot: Path, *, replace: bool = False) -> None:
    """Create the memory that `config` names from a snapshot; with `replace` the snapshot may replace a memory.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: the snapshot is damaged or is not a memory; the memory is unchanged.
        StorageError: the snapshot cannot be read, the memory cannot be written, or it exists and `replace` is not set.
    """
    if config.storage != "sqlite":
        raise ConfigError(
            "a snapshot is a file; set storage to 'sqlite' to restore it, then move it by export and import"
        )
    from neurogated.storage.log.sqlite.snapshot import restore_snapshot

    restore_snapshot(snapshot, _path(config), replace=replace)
