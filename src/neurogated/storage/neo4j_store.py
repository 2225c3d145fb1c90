"""`Neo4jStore`: a graph of a memory in a database that speaks Bolt."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from neurogated.storage.durable_store import DatabaseStore
from neurogated.storage.log.neo4j.connection import MEMORY, BoltAddress, Connection
from neurogated.storage.log.neo4j.neo4j_log import Neo4jEngine
from neurogated.storage.log.neo4j.projection import projection_faults
from neurogated.storage.verify import disagreements


class Neo4jStore(DatabaseStore[Neo4jEngine]):
    """A memory in a database that speaks Bolt, such as `bolt://HOST:7687/DATABASE?memory=NAME`.

    Without a database, it is in the default one of the server; without `memory`, it is the memory `default`.
    """

    @staticmethod
    def connected(place: str | Path, patience: float, *, from_scratch: bool, read_only: bool) -> Neo4jEngine:
        """Return the engine of the memory at the URL `place`; see `DurableStore`."""
        engine = Neo4jEngine(BoltAddress.of(str(place)), patience=patience, read_only=read_only)
        try:
            if from_scratch:
                engine.clear()
        except BaseException:
            engine.close()
            raise
        return engine

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a memory at `url`; raises StorageError."""
        with closing(Connection(BoltAddress.of(url))) as connection:
            return bool(connection.read(MEMORY))

    def faults(self) -> list[str]:
        """Return the faults of this graph, also of its nodes and relationships in the database, one per line."""
        with self.exclusively():
            return [*disagreements(self), *projection_faults(self.engine.connection, self.graph.name, self)]
