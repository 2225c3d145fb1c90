"""A local file for a database that is away. When the database is back, it takes over the changes of the file in order.

One of the two is in use at a time: while a process has the file open, others on this machine use the file, too.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta
from neurogated.errors import MemoryLockedError, UnreachableError
from neurogated.storage.checkpoint.checkpoints import Checkpoints
from neurogated.storage.files.process_lock import opened_alone
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.sqlite.commit_watermark import CommitWatermark
from neurogated.storage.log.sqlite.create import drop_file
from neurogated.storage.sqlite_store import SqliteStore

_log = logging.getLogger(__name__)

_FOLDER, _FILE = "fallback", "memory.db"


def fallback_file(config: MemoryConfig) -> Path:
    """Return the place of the file."""
    return Path(config.save_dir) / _FOLDER / _FILE


def open_with_fallback(config: MemoryConfig, clock: Clock, open_database: Callable[[], GraphStore]) -> GraphStore:
    """Open a database, or the file if the server cannot be reached or other processes still use the file.

    A reader opens the file only if it exists, and takes nothing over.

    Raises:
        UnreachableError: the server cannot be reached, and a reader finds no file.
        EmbedderMismatchError: the file has vectors of another model than the database.
        Others as those of `open_store`.
    """
    file = fallback_file(config)
    try:
        store = open_database()
    except UnreachableError as error:
        if config.read_only and not file.exists():
            raise
        reason = str(error)
    else:
        if config.read_only or not file.exists():
            return store
        try:
            take_over(store, file)
        except MemoryLockedError as error:
            store.close()
            reason = str(error)
        except BaseException:
            store.close()
            raise
        else:
            return store
    _log.warning(
        "%s; until this memory is opened again, it is in %s, without the memories of the database", reason, file
    )
    return SqliteStore.open(file, config.namespace, config=config, clock=clock, read_only=config.read_only)


def take_over(store: GraphStore, file: Path) -> None:
    """Apply all changes of a file to a database in one transaction, and delete the file.

    Raises:
        MemoryLockedError: another process has the file open.
        EmbedderMismatchError: the file has vectors of another model.
    """
    with opened_alone(file):
        # Another process may have been first.
        if not file.exists():
            return
        with contextlib.closing(SqliteStore.open(file, read_only=True)) as local:
            count = _apply_all(local, store, f"take over {local.identity[0]}")
        Checkpoints(file).drop()
        drop_file(file)
        CommitWatermark(file.with_suffix(".acknowledged")).remove()
    _log.warning("the database took over %d changes from %s, which is deleted", count, file)


def _apply_all(local: SqliteStore, store: GraphStore, reason: str) -> int:
    """Apply the changes of a file, unless a process did that and was killed before it deleted the file."""
    count = 0
    with store.transaction():
        if any(entry.reason == reason for entry in store.graph.log.history()):
            return count
        for name in local.namespaces():
            source, target = local.in_namespace(name), store.in_namespace(name)
            if source.embedder is not None:
                target.bind_embedder(*source.embedder)
            for entry in source.journal():
                target.apply(entry.delta)
                count += 1
        store.apply(GraphDelta(reason=reason))
    return count
