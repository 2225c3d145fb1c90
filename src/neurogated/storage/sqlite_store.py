"""`SqliteStore`: the durable embedded default. One SQLite transaction is the commit of a delta."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import EmbeddedVersion, VersionKey
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry
from neurogated.core.model import Vector
from neurogated.core.text import checked_text
from neurogated.errors import InputError, MemoryLockedError
from neurogated.storage.checkpoint.checkpoints import Checkpoints
from neurogated.storage.log.sqlite.append import PlanWriter
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.purge import erase_namespace, erase_removed
from neurogated.storage.log.sqlite.reembed import embedded_versions, replace_vectors
from neurogated.storage.log.sqlite.snapshot import take_snapshot
from neurogated.storage.open_graphs import OpenGraphs
from neurogated.storage.resolve import Plan
from neurogated.storage.sqlite_past import HistoricalStore
from neurogated.storage.sqlite_present import SqlitePresent, find_namespace
from neurogated.storage.verify import disagreements

__all__ = ["SqliteStore"]

_log = logging.getLogger(__name__)


class SqliteStore(SqlitePresent):
    """One namespace of a memory file: a `GraphStore` whose texts, vectors and journal are on disk.

    When `apply` returns, the change is on disk and outlives `kill -9`. Several stores, in several processes, may have
    one file open. Each write waits for its turn. Whoever writes or asks for a view first takes in what others wrote.
    """

    def __init__(
        self,
        file: SqliteFile,
        namespace: str = MemoryConfig().namespace,
        *,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        open_graphs: OpenGraphs | None = None,
    ) -> None:
        number = _namespace_number(file, namespace)
        super().__init__(file, namespace, number, config=config, clock=clock, open_graphs=open_graphs)

    @classmethod
    def open(
        cls,
        path: str | Path,
        namespace: str = MemoryConfig().namespace,
        *,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        from_scratch: bool = False,
        read_only: bool = False,
    ) -> Self:
        """Open or create the memory file at `path`.

        Args:
            path: the file.
            namespace: which of its graphs is meant.
            config: settings, of which those of storage count; the defaults when left out.
            clock: tells the time.
            from_scratch: drop what the file holds first.
            read_only: open an existing file beside a process that writes to it, which shows as whole deltas.

        Raises:
            MemoryLockedError: another process has not ended its write, or has it open and `from_scratch` is set.
            CorruptMemoryError: it is damaged or holds something else.
            FormatVersionError: it is of a format version that is not known here.
            StorageError: it cannot be read or written.
        """
        patience = (config or MemoryConfig()).WRITE_LOCK_SECONDS
        # Two names of one file must mean one lock.
        file = SqliteFile(Path(path).resolve(), from_scratch=from_scratch, read_only=read_only, patience=patience)
        try:
            if from_scratch:
                Checkpoints(file.path).drop()
            store = cls(file, namespace, config=config, clock=clock)
            store._tidy_kept()
        except BaseException:
            file.close()
            raise
        return store

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; uses are left out."""
        with self._lock:
            self._latest()
            return super().history()

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first, as far as compaction left it; see SqliteGraph."""
        self._latest()
        return super().journal(after)

    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of the file, made if there is none; the graphs never see each other."""
        with self._lock:
            if (known := self._family.get(namespace)) is not None:
                # It may be one whose making was taken back.
                known._renew()
            return super().in_namespace(namespace)

    def namespaces(self) -> list[str]:
        """Return the names of all graphs in the file, in the order they were made."""
        with self._lock, self._file.lock, self._file.translated():
            self._require_open()
            rows = fetch(self._file.connection, "SELECT name FROM namespaces ORDER BY namespace")
        return [name for (name,) in rows]

    def drop_namespace(self, namespace: str) -> None:
        """Remove another graph of the file; see GraphStore."""
        # One that is under way may wait for the lock that this thread holds, if it is in a transaction.
        self._cancel_keeping()
        with self._kept.exclusively():
            super().drop_namespace(namespace)

    def check(self) -> list[str]:
        """Return what is wrong with the memory, a line each; none if it is sound.

        Beside the file itself this makes every graph anew from its journal, and compares it, its vectors and its
        keywords with what this process works on.
        """
        problems = self._file.problems()
        for name in self.namespaces():
            store = self.in_namespace(name)
            # Of one state of the file, whatever others write meanwhile.
            with store._lock, store._file.reading():
                store._follow_others()
                problems += [f"namespace {name!r}: {line}" for line in disagreements(store)]
        return problems

    def as_of(self, moment: int | datetime) -> HistoricalStore:
        """Return the graph as it was known after a delta, given by its number or a time, to be read only.

        0 is the empty graph; a time stands for the last delta that was made at it or before.

        Raises:
            InputError: there is no such delta yet.
        """
        with self._lock:
            self.view()
            return HistoricalStore(self, self._sequence_at(moment), moment if isinstance(moment, datetime) else None)

    def compact(self, *, history: bool = False) -> int:
        """Erase removed nodes, of all namespaces, with all their history, and leave nothing of them on disk.

        Afterwards `as_of` and `undo` show the past without them.

        Args:
            history: erase also the past versions of the nodes that stay, with their vectors, ended edges and past
                weights; then the past shows nodes and edges as they are now, from when they were first put. The list of
                changes stays.

        Returns:
            How many nodes were erased.

        Raises:
            InputError: within a transaction, which could not be taken back.
            StorageError: another process reads just now; the nodes are erased, but not yet from all of the disk.
        """
        with self._lock:
            self._require_open()
            if self._file.connection.in_transaction:
                raise InputError("compact cannot be taken back, and so be no part of a transaction; call it afterwards")
            self._cancel_keeping()
        with self._kept.exclusively(), self.exclusively():
            self._cancel_keeping()
            for store in list(self._family.values()):
                # Whatever happens from here on, rows are read again before they are used.
                store._interrupted = True
            # What is kept holds words of what is to be erased.
            self._kept.drop()
            erased = erase_removed(self._file, history=history)
            self._renew_all()
            self._file.rewrite()
        _log.info("%s was compacted: %d nodes erased", self._file.path, erased)
        return erased

    def snapshot(self, path: Path) -> None:
        """Write all graphs, as they are at this moment, to one file; writes go on meanwhile.

        Raises:
            StorageError: the file exists or cannot be written.
        """
        with self._lock:
            self._require_open()
        take_snapshot(self._file.path, path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block of changes, in any namespace, as one: if it raises, none of them was ever made.

        A namespace that was made in the block can then no longer be used.
        """
        with self.exclusively():
            self._renew_all()
            for store in list(self._family.values()):
                if not store.is_unloaded:
                    store._follow_others()
            with self._apart():
                try:
                    with self._file.transaction():
                        for store in list(self._family.values()):
                            store._block = self._file.block
                        yield
                except BaseException:
                    self._renew_all()
                    raise

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Yield every version of a node, past or present, in any namespace, that has a vector."""
        return embedded_versions(self._file)

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Put new vectors in the place of all there are, record their embedder and apply `delta`, as one change.

        Raises:
            InputError: a vector is of another length, a version is left without one, or the delta does not fit.
        """
        with self.transaction():
            replace_vectors(self._file.connection, embedder, dimension, vectors)
            for store in list(self._family.values()):
                store._interrupted = True
            self._renew_all()
            if delta:
                self.apply(delta)

    def statistics(self) -> Mapping[str, int]:
        """Return how many bytes the memory takes on disk, and how often nodes and edges of this graph were used."""
        with self._lock, self._file.reading() as connection:
            ((nodes, edges),) = fetch(
                connection,
                "SELECT coalesce(sum(nodes), 0), coalesce(sum(edges), 0) FROM daily_uses WHERE namespace = ?",
                (self._namespace,),
            )
        return {"bytes": self._file.size() + self._kept.size(), "node uses": nodes, "edge uses": edges}

    def close(self) -> None:
        """Close the file with all its namespaces; every acknowledged write is in it."""
        if self.closed:
            return
        with self._lock:
            # Within a transaction nothing can be kept, and who waits for it would wait for ever.
            in_transaction = self._file.connection.in_transaction
        for store in list(self._family.values()):
            store._keeper.cancel() if in_transaction else store._finish_keeping()
            store._form.close()
        super().close()
        self._file.close()

    # What GraphStore leaves to the durable store

    def _open_namespace(self, namespace: str) -> Self:
        return type(self)(
            self._file,
            namespace,
            config=self._config,
            clock=self._clock,
            open_graphs=self._open_graphs(),
        )

    def _erase_namespace(self, namespace: str) -> None:
        dropped = self._family.get(namespace)
        if dropped is not None:
            dropped._keeper.cancel()
            dropped._interrupted = True
            dropped._form.close()
            dropped._note_closed()
        with self._file.reading() as connection:
            number = find_namespace(connection, namespace)
        self._kept.drop(number)
        erase_namespace(self._file, namespace)

    def _cancel_keeping(self) -> None:
        for store in list(self._family.values()):
            store._keeper.cancel()

    def _tidy_kept(self) -> None:
        """Remove what is kept to no use."""
        if self._file.read_only:
            return
        with self._file.reading() as connection:
            numbers = [number for (number,) in fetch(connection, "SELECT namespace FROM namespaces")]
        try:
            with self._kept.exclusively(patience=0):
                self._kept.sweep(numbers)
                self._kept.tidy(self._namespace)
        except MemoryLockedError:
            # Another process keeps something just now, and tidies up then.
            pass
        except OSError as error:
            _log.warning("what is kept of other states cannot be removed (%s); remove it", error)

    def _record_embedder(self, name: str, dimension: int) -> None:
        self._interrupted = True
        with self._file.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO settings VALUES (?, ?)", [("embedder", name), ("dimension", str(dimension))]
            )
        self._embedder = (name, dimension)
        self._interrupted = False

    def _persist(self, plan: Plan) -> int:
        with self._file.transaction() as connection:
            writer = PlanWriter(connection, self._namespace, self._form, self._node_keys.values, self._edge_keys.values)
            written = writer.write(plan)
        self._node_keys.extend(written.new_nodes)
        self._edge_keys.extend(written.new_edges)
        return written.sequence

    def _renew_all(self) -> None:
        """Read all open graphs again that are not right; the others are read on their next use."""
        for store in list(self._family.values()):
            if not store.is_unloaded:
                store._renew()


def _namespace_number(file: SqliteFile, name: str) -> int:
    """Return the file's number of a namespace, made if there is none; 0 where it may not be made."""
    checked_text("the name of a namespace", name)
    if file.read_only:
        with file.reading() as connection:
            return find_namespace(connection, name)
    with file.reading() as connection:
        number = find_namespace(connection, name)
    if number:
        return number
    with file.transaction() as connection:
        connection.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?)", (name,))
        return find_namespace(connection, name)
