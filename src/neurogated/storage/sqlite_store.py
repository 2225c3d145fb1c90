"""`SqliteStore`: a graph of a memory file, with the abilities that need a file."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from neurogated.core.abilities import EmbeddedVersion, SupportsBackup, SupportsStatistics, VersionKey
from neurogated.core.model import Vector
from neurogated.storage.durable_store import DurableStore
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.journal import SqliteJournal
from neurogated.storage.log.sqlite.purge import embedded_versions, replace_vectors
from neurogated.storage.log.sqlite.snapshot import take_snapshot
from neurogated.storage.log.sqlite.sqlite_log import FileFollower, SqliteEngine, SqliteLog


class SqliteStore(DurableStore[SqliteEngine], SupportsBackup, SupportsStatistics):
    """A `DurableStore` whose engine is a memory file: texts, vectors and journal are on disk.

    When `apply` returns, the change is on disk and survives `kill -9`.
    """

    connected = SqliteEngine

    @property
    def follower(self) -> FileFollower:
        """Brings the index up to date and writes its checkpoints."""
        return cast("FileFollower", self.graph.follower)

    def tidy(self) -> None:
        """Remove obsolete checkpoints."""
        self.engine.tidy(self._log.namespace)

    def check(self) -> list[str]:
        """Return the faults of the memory and of its file, one per line; none if it is sound."""
        return self.engine.problems() + super().check()

    def backup(self, path: Path) -> None:
        """Write the present state of all graphs to one file while writes continue.

        Raises:
            StorageError: the file exists or cannot be written.
        """
        with self.graph.lock:
            self.graph.require_open()
        take_snapshot(self.engine.path, path)

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Yield every version, past or present, of a node with a vector, in all namespaces."""
        return embedded_versions(self.engine)

    def put_vectors(self, vectors: Iterable[tuple[VersionKey, Vector]], dimension: int) -> None:
        """Replace all vectors; see `DurableStore`."""
        replace_vectors(self.engine.connection, vectors, dimension)

    def touched(self, kind: str, edge_type: str, after: int, up_to: int) -> Mapping[str, int]:
        """Return changed nodes and the numbers of their last changes; see `SupportsTouched`."""
        with self.engine.reading() as connection:
            return SqliteJournal(connection, self._log.namespace).touched(kind, edge_type, after, up_to)

    def last_change(self, up_to: int) -> tuple[int, int]:
        """Return number and time of the last delta up to a number; see `SupportsTouched`."""
        return self._log.last_change(up_to)

    @property
    def _log(self) -> SqliteLog:
        return cast("SqliteLog", self.graph.log)

    def statistics(self) -> Mapping[str, int]:
        """Return the size of the memory on disk in bytes, and the use counts of the nodes and edges of this graph."""
        file = self.engine
        with file.reading() as connection:
            ((nodes, edges),) = fetch(
                connection,
                "SELECT coalesce(sum(nodes), 0), coalesce(sum(edges), 0) FROM daily_uses WHERE namespace = ?",
                (self._log.namespace,),
            )
        return {"bytes": file.size() + self.engine.checkpoints.size(), "node uses": nodes, "edge uses": edges}
