"""`SqliteStore`: a graph of a memory file, with what only a file can do."""

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
from neurogated.core.arguments import names_arguments
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.model import Vector
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.file_follower import FileFollower
from neurogated.storage.log.sqlite.reembed import embedded_versions, replace_vectors
from neurogated.storage.log.sqlite.snapshot import take_snapshot
from neurogated.storage.log.sqlite.sqlite_log import SqliteEngine, SqliteLog
from neurogated.storage.verify import disagreements

__all__ = ["SqliteStore"]


@names_arguments
class SqliteStore(GraphStore, SupportsCheck, SupportsReembedding, SupportsSnapshot, SupportsStatistics):
    """A `GraphStore` whose engine is a memory file: texts, vectors and journal are on disk.

    When `apply` returns, the change is on disk and outlives `kill -9`. Several stores, in several processes, may have
    one file open. Each write waits for its turn. Whoever writes or asks for a view first takes in what others wrote.
    """

    @property
    def engine(self) -> SqliteEngine:
        """The file and what is kept beside it."""
        return cast("SqliteEngine", self.graph.family.engine)

    @property
    def follower(self) -> FileFollower:
        """What brings the index up to date and keeps it beside the file."""
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
        patience = (config or MemoryConfig()).runtime.write_lock_seconds
        # Two names of one file must mean one lock.
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
        """Return what is wrong with the memory, a line each; none if it is sound.

        Beside the file itself this rebuilds every graph from its journal, and compares it, its vectors and its
        keywords with what this process works on.
        """
        file = self.engine.file
        problems = file.problems()
        for name in self.namespaces():
            store = self.in_namespace(name)
            # Of one state of the file, whatever others write meanwhile.
            with file.lock, file.reading():
                store.graph.catch_up()
                problems += [f"namespace {name!r}: {line}" for line in disagreements(store)]
        return problems

    def snapshot(self, path: Path) -> None:
        """Write all graphs, as they are at this moment, to one file; writes go on meanwhile.

        Raises:
            StorageError: the file exists or cannot be written.
        """
        with self.graph.lock:
            self.graph.require_open()
        take_snapshot(self.engine.file.path, path)

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Yield every version of a node, past or present, in any namespace, that has a vector."""
        return embedded_versions(self.engine.file)

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Put new vectors in the place of all there are, record their embedder and apply `delta`, as one change.

        Raises:
            InputError: a vector is of another length, a version is left without one, or the delta does not fit.
        """
        with self.transaction():
            replace_vectors(self.engine.file.connection, embedder, dimension, vectors)
            self.graph.family.invalidate()
            self.graph.family.renew()
            if delta:
                self.apply(delta)

    def statistics(self) -> Mapping[str, int]:
        """Return how many bytes the memory takes on disk, and how often nodes and edges of this graph were used."""
        file = self.engine.file
        with file.reading() as connection:
            ((nodes, edges),) = fetch(
                connection,
                "SELECT coalesce(sum(nodes), 0), coalesce(sum(edges), 0) FROM daily_uses WHERE namespace = ?",
                (cast("SqliteLog", self.graph.log).namespace,),
            )
        return {"bytes": file.size() + self.engine.checkpoints.size(), "node uses": nodes, "edge uses": edges}
