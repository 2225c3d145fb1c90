"""`Neo4jStore`: a graph of a memory in a database that speaks Bolt."""

from __future__ import annotations

from typing import Self, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsCheck
from neurogated.core.clock import Clock, utc_now
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.neo4j.address import Address
from neurogated.storage.log.neo4j.neo4j_log import Neo4jEngine, memory_exists
from neurogated.storage.log.neo4j.verify import projection_faults
from neurogated.storage.verify import disagreements


class Neo4jStore(GraphStore, SupportsCheck):
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
        engine = Neo4jEngine(Address.of(url), patience=config.runtime.write_lock_seconds, read_only=read_only)
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
        return memory_exists(Address.of(url))

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
