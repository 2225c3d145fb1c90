"""`Neo4jStore`: a graph of a memory in a database that speaks Bolt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import chain, starmap
from typing import Self, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import EmbeddedVersion, SupportsCheck, SupportsReembedding, VersionKey
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.model import Vector
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.checkpointed import embedded_versions, replace_vectors
from neurogated.storage.log.neo4j.connection import BoltAddress
from neurogated.storage.log.neo4j.neo4j_log import Neo4jEngine, Neo4jLog, memory_exists
from neurogated.storage.log.neo4j.projection import projection_faults
from neurogated.storage.verify import disagreements


class Neo4jStore(GraphStore, SupportsCheck, SupportsReembedding):
    """A `GraphStore` whose engine is a database that speaks Bolt. Each process has an index of the whole graph.

    When `apply` returns, the change is committed. Several processes may have one database open; they write by turns. A
    write or a new view first applies the writes of other processes.
    """

    @classmethod
    def open(
        cls,
        url: str,
        namespace: str = MemoryConfig().namespace,
        *,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        from_scratch: bool = False,
        read_only: bool = False,
    ) -> Self:
        """Open or create the memory at `url`, such as `bolt://HOST:7687/DATABASE?memory=NAME`.

        Args:
            url: the address; without a database, the default of the server; without `memory`, the memory `default`.
            namespace: the graph to open.
            config: only the storage settings are read; defaults to `MemoryConfig()`.
            clock: returns the current time.
            from_scratch: first delete the memory at this address.
            read_only: open an existing memory; writes fail.

        Raises:
            ConfigError: the URL is none of a database that speaks Bolt.
            StorageError: the database cannot be reached, or refuses the user.
            FormatVersionError: the memory has an unknown format.
        """
        config = config or MemoryConfig()
        engine = Neo4jEngine(BoltAddress.of(url), patience=config.runtime.write_lock_seconds, read_only=read_only)
        try:
            if from_scratch:
                engine.clear()
            return cls(engine=engine, namespace=namespace, config=config, clock=clock)
        except BaseException:
            engine.close()
            raise

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a memory at `url`; raises StorageError."""
        return memory_exists(BoltAddress.of(url))

    @property
    def engine(self) -> Neo4jEngine:
        """The connection to the database."""
        return cast("Neo4jEngine", self.graph.family.engine)

    def check(self) -> list[str]:
        """Return the faults of the memory, one per line; none if it is sound.

        This rebuilds every graph from its log, and compares it with the graph that this process uses, and that one with
        the nodes and relationships in the database.
        """
        problems = []
        for name in self.namespaces():
            store = self.in_namespace(name)
            with store.exclusively():
                faults = [*disagreements(store), *projection_faults(self.engine.connection, name, store)]
            problems += [f"namespace {name!r}: {line}" for line in faults]
        return problems

    @contextlib.contextmanager
    def still_copy(self) -> Iterator[Self]:
        """Give another store on this memory, in which no graph changes until the block ends; others may write."""
        config, address = self.graph.family.config, self.engine.connection.address
        engine = Neo4jEngine(address, patience=config.runtime.write_lock_seconds, read_only=True)
        with type(self)(engine=engine, namespace=self.graph.name, config=config) as copy, copy.transaction():
            yield copy

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Yield every version, past or present, of a node with a vector, in all namespaces."""
        return chain.from_iterable(starmap(embedded_versions, self._logs()))

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Replace all vectors, record their embedder and apply `delta`, in one transaction. All vectors are in memory.

        Raises:
            InputError: a vector has another length, a version gets no vector, or the delta does not fit.
        """
        with self.transaction():
            replace_vectors(self._logs(), vectors, dimension)
            self.engine.record_embedder(embedder, dimension)
            self.graph.family.invalidate()
            self.graph.family.renew()
            if delta:
                self.apply(delta)

    def _logs(self) -> list[tuple[int, Neo4jLog]]:
        return [(number, Neo4jLog(self.engine, name)) for number, name in enumerate(self.namespaces())]
