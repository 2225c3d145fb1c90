"""`PostgresStore`: a graph of a memory in PostgreSQL, with the abilities that need a database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Self, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import (
    EmbeddedVersion,
    SupportsCheck,
    SupportsReembedding,
    SupportsStatistics,
    VersionKey,
)
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.model import Vector
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.checkpointed import embedded_versions, replace_vectors
from neurogated.storage.log.postgres.postgres_log import PostgresEngine, PostgresLog
from neurogated.storage.log.postgres.server import PostgresAddress, Server, exists, prepare, rewrite_tables
from neurogated.storage.verify import disagreements


class PostgresStore(GraphStore, SupportsCheck, SupportsReembedding, SupportsStatistics):
    """A `GraphStore` whose engine is one schema of a PostgreSQL database.

    When `apply` returns, the server has committed the change. Any number of processes may have the memory open; those
    that write to one graph take turns, and those that write to different graphs do not wait for each other.
    """

    @property
    def engine(self) -> PostgresEngine:
        """The database."""
        return cast("PostgresEngine", self.graph.family.engine)

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
        """Open or create the memory at `url`, such as `postgresql://HOST/DATABASE?schema=NAME`.

        Args:
            url: the address; without `schema`, the memory is in the schema `neurogated`.
            namespace: the graph to open.
            config: only the storage settings are read; defaults to `MemoryConfig()`.
            clock: returns the current time.
            from_scratch: first drop the memory in this schema.
            read_only: open an existing memory; other processes may write to it.

        Raises:
            ConfigError: the URL is none of PostgreSQL, or has `search`, an option of earlier versions.
            FormatVersionError: a newer version of this library made the tables.
            StorageError: the server cannot be reached or refuses.
        """
        server = Server(PostgresAddress(url), read_only=read_only)
        try:
            prepare(server, from_scratch=from_scratch)
            engine = PostgresEngine(server, (config or MemoryConfig()).runtime.write_lock_seconds)
            store = cls(engine=engine, namespace=namespace, config=config, clock=clock)
        except BaseException:
            server.close()
            raise
        return store

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a memory at `url`; raises like `open`."""
        server = Server(PostgresAddress(url), read_only=True)
        try:
            return exists(server)
        finally:
            server.close()

    def check(self) -> list[str]:
        """Return the faults of the memory, one per line; none if it is sound.

        This reads every delta with its checksum, and compares the graph that they make with that of this process.
        """
        problems = []
        for name in self.namespaces():
            store = self.in_namespace(name)
            with store.graph.lock:
                store.graph.catch_up()
                problems += [f"namespace {name!r}: {line}" for line in disagreements(store)]
        return problems

    @contextlib.contextmanager
    def still_copy(self) -> Iterator[Self]:
        """Give another store on this memory, in which no graph changes until the block ends; others may write."""
        config = self.graph.family.config
        url = self.engine.server.address.url
        with type(self).open(url, self.graph.name, config=config, read_only=True) as copy, copy.transaction():
            yield copy

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Return every version, past or present, of a node with a vector; see `SupportsReembedding`."""
        self.engine.claim_all()
        return chain.from_iterable(embedded_versions(log.namespace, log) for log in self._logs())

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Replace all vectors, record their embedder and apply `delta`, in one transaction. All vectors are in memory.

        Raises:
            InputError: a vector has another length, a version gets no vector, or the delta does not fit.
        """
        with self.transaction():
            replace_vectors(((log.namespace, log) for log in self._logs()), vectors, dimension)
            self.engine.record_embedder(embedder, dimension)
            self.graph.family.invalidate()
            self.graph.family.renew()
            if delta:
                self.apply(delta)

    def _logs(self) -> list[PostgresLog]:
        return [PostgresLog(self.engine, name) for name in self.namespaces()]

    def statistics(self) -> Mapping[str, int]:
        """Return the size of the memory in the database in bytes, with its indexes."""
        ((size,),) = self.engine.fetch(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return {"bytes": int(size)}

    def compact(self, *, history: bool = False) -> int:
        """Erase removed nodes in all graphs and return their number; see `GraphStore.compact`.

        The tables are then rewritten, so that no erased text stays in the files of the database. Other processes cannot
        read them meanwhile.

        Raises:
            MemoryLockedError: the nodes are erased, but traces remain, because another process uses the tables for too
                long, or a transaction that began before can read them.
        """
        erased = super().compact(history=history)
        rewrite_tables(self.engine.server, self.graph.family.config.runtime.write_lock_seconds)
        return erased
