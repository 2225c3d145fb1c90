"""`SqliteStore`: a graph of a memory file, with the abilities that need a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import (
    EmbeddedVersion,
    SupportsCheck,
    SupportsReembedding,
    SupportsSnapshot,
    SupportsStatistics,
    VersionKey,
)
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.model import Vector
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.file_follower import FileFollower
from neurogated.storage.log.sqlite.journal import SqliteJournal
from neurogated.storage.log.sqlite.purge import embedded_versions, replace_vectors
from neurogated.storage.log.sqlite.snapshot import take_snapshot
from neurogated.storage.log.sqlite.sqlite_log import SqliteEngine, SqliteLog
from neurogated.storage.verify import disagreements


class SqliteStore(GraphStore, SupportsCheck, SupportsReembedding, SupportsSnapshot, SupportsStatistics):
    """A `GraphStore` whose engine is a memory file: texts, vectors and journal are on disk.

    When `apply` returns, the change is on disk and survives `kill -9`. Several stores, in several processes, may have
    one file open. Each write waits for its turn. A write or a new view first applies the writes of other processes.
    """

    @property
    def engine(self) -> SqliteEngine:
        """The memory file and its checkpoints."""
        return cast("SqliteEngine", self.graph.family.engine)

    @property
    def follower(self) -> FileFollower:
        """Brings the index up to date and writes its checkpoints."""
        return cast("FileFollower", self.graph.follower)

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
            namespace: the graph to open.
            config: only the storage settings are read; defaults to `MemoryConfig()`.
            clock: returns the current time.
            from_scratch: first drop the content of the file.
            read_only: open an existing file; another process may write to it, and its writes appear as whole deltas.

        Raises:
            MemoryLockedError: another process has not finished its write, or has the file open and `from_scratch` is
                set.
            CorruptMemoryError: the file is damaged or is not a memory.
            FormatVersionError: the file has an unknown format version.
            StorageError: the file cannot be read or written.
        """
        patience = (config or MemoryConfig()).runtime.write_lock_seconds
        # Two names of one file must share one lock.
        file = SqliteFile(Path(path).resolve(), from_scratch=from_scratch, read_only=read_only, patience=patience)
        try:
            engine = SqliteEngine(file)
            if from_scratch:
                engine.checkpoints.drop()
            store = cls(engine=engine, namespace=namespace, config=config, clock=clock)
            engine.tidy(namespace)
        except BaseException:
            file.close()
            raise
        return store

    def check(self) -> list[str]:
        """Return the faults of the memory, one per line; none if it is sound.

        Besides the file itself, this rebuilds every graph from its journal and compares it with the graph, vectors and
        keywords that this process uses.
        """
        file = self.engine.file
        problems = file.problems()
        for name in self.namespaces():
            store = self.in_namespace(name)
            # Read one state of the file while other processes write.
            with file.lock, file.reading():
                store.graph.catch_up()
                problems += [f"namespace {name!r}: {line}" for line in disagreements(store)]
        return problems

    def snapshot(self, path: Path) -> None:
        """Write the present state of all graphs to one file while writes continue.

        Raises:
            StorageError: the file exists or cannot be written.
        """
        with self.graph.lock:
            self.graph.require_open()
        take_snapshot(self.engine.file.path, path)

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Yield every version, past or present, of a node with a vector, in all namespaces."""
        return embedded_versions(self.engine.file)

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Replace all vectors, record their embedder and apply `delta`, in one transaction.

        Raises:
            InputError: a vector has another length, a version gets no vector, or the delta does not fit.
        """
        with self.transaction():
            replace_vectors(self.engine.file.connection, embedder, dimension, vectors)
            self.graph.family.invalidate()
            self.graph.family.renew()
            if delta:
                self.apply(delta)

    def touched(self, kind: str, edge_type: str, after: int, up_to: int) -> Mapping[str, int]:
        """Return changed nodes and the numbers of their last changes; see `SupportsTouched`."""
        with self.engine.file.reading() as connection:
            return SqliteJournal(connection, self._log.namespace).touched(kind, edge_type, after, up_to)

    def last_change(self, up_to: int) -> tuple[int, int]:
        """Return number and time of the last delta up to a number; see `SupportsTouched`."""
        return self._log.last_change(up_to)

    @property
    def _log(self) -> SqliteLog:
        return cast("SqliteLog", self.graph.log)

    def statistics(self) -> Mapping[str, int]:
        """Return the size of the memory on disk in bytes, and the use counts of the nodes and edges of this graph."""
        file = self.engine.file
        with file.reading() as connection:
            ((nodes, edges),) = fetch(
                connection,
                "SELECT coalesce(sum(nodes), 0), coalesce(sum(edges), 0) FROM daily_uses WHERE namespace = ?",
                (self._log.namespace,),
            )
        return {"bytes": file.size() + self.engine.checkpoints.size(), "node uses": nodes, "edge uses": edges}
