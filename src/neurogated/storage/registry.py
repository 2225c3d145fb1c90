"""From the name of a storage to the opened store; its package is imported here and not before."""

from __future__ import annotations

import shutil
from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.errors import StorageError

__all__ = ["memory_exists", "open_store", "restore_store"]

_FOLDER = "memory"
_FILE = "memory.db"


def memory_exists(config: MemoryConfig) -> bool:
    """Return whether there is a memory where `config` says."""
    return config.storage != "memory" and _path(config).exists()


def _path(config: MemoryConfig) -> Path:
    return Path(config.save_dir) / _FOLDER / _FILE


def restore_store(config: MemoryConfig, path: Path) -> None:
    """Make the memory of `config` from a snapshot.

    Raises:
        StorageError: there is a memory already, or the snapshot cannot be read.
    """
    from neurogated.storage.sqlite_schema import check_format

    target = _path(config)
    if memory_exists(config):
        raise StorageError(f"there is a memory in {config.save_dir} already; choose another save_dir")
    try:
        check_format(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target.with_suffix(".restoring"))
        target.with_suffix(".restoring").rename(target)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"{path} cannot be restored ({error})") from error


def open_store(config: MemoryConfig, clock: Clock) -> GraphStorePort:
    """Open the store that `config.storage` names, in `config.namespace`.

    The durable store is the file `<save_dir>/memory/memory.db`; with `force_index_from_scratch` a file that is there
    is dropped first.

    Raises:
        StorageError: the file cannot be opened; see its subclasses.
    """
    if config.storage == "memory":
        from neurogated.storage.graph_store import GraphStore

        return GraphStore(namespace=config.namespace, overlay_edges=config.OVERLAY_EDGES, clock=clock)
    from neurogated.storage.sqlite_store import SqliteStore

    return SqliteStore.open(
        _path(config),
        config.namespace,
        overlay_edges=config.OVERLAY_EDGES,
        clock=clock,
        from_scratch=config.force_index_from_scratch,
    )
