"""`DatabaseStore`: a graph of a memory in a database, where the log of each graph is a table of encoded deltas."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Self, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import EmbeddedVersion, SupportsCheck, SupportsReembedding, VersionKey
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.model import Vector
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.delta_log import DatabaseEngine, DeltaLog, embedded_versions, replace_vectors
from neurogated.storage.verify import disagreements


class DatabaseStore(GraphStore, SupportsCheck, SupportsReembedding):
    """A `GraphStore` whose engine is a database. Each process has an index of the whole graph.

    When `apply` returns, the change is committed. Several processes may have one memory open; they write by turns. A
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
        """Open or create the memory at `url`.

        Args:
            url: the address; the store of each kind of databases says of which form.
            namespace: the graph to open.
            config: only the storage settings are read; defaults to `MemoryConfig()`.
            clock: returns the current time.
            from_scratch: first drop the memory at this address.
            read_only: open an existing memory; other processes may write to it.

        Raises:
            ConfigError: the URL is none of such a database, or has an unknown option.
            FormatVersionError: another version of this library made the memory.
            StorageError: the database cannot be reached, or refuses the user.
        """
        config = config or MemoryConfig()
        patience = config.runtime.write_lock_seconds
        engine = cls.connected(url, patience, from_scratch=from_scratch, read_only=read_only)
        try:
            return cls(engine=engine, namespace=namespace, config=config, clock=clock)
        except BaseException:
            engine.close()
            raise

    @staticmethod
    @abstractmethod
    def connected(url: str, patience: float, *, from_scratch: bool, read_only: bool) -> DatabaseEngine:
        """Return the engine of the memory at `url`; a write waits so many seconds for others. It raises like `open`."""

    @property
    def engine(self) -> DatabaseEngine:
        """The database."""
        return cast("DatabaseEngine", self.graph.family.engine)

    def check(self) -> list[str]:
        """Return the faults of the memory, one per line; none if it is sound.

        This reads every delta with its checksum, and compares the graph that they make with that of this process.
        """
        stores = {name: self.in_namespace(name) for name in self.namespaces()}
        return [f"namespace {name!r}: {line}" for name, store in stores.items() for line in store.faults()]

    def faults(self) -> list[str]:
        """Return the faults of this graph, one per line."""
        with self.graph.lock:
            self.graph.catch_up()
            return disagreements(self)

    @contextlib.contextmanager
    def still_copy(self) -> Iterator[Self]:
        """Give another store on this memory, in which no graph changes until the block ends; others may write."""
        url, config = self.engine.url, self.graph.family.config
        with type(self).open(url, self.graph.name, config=config, read_only=True) as copy, copy.transaction():
            yield copy

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Return every version, past or present, of a node with a vector, in all namespaces."""
        self.engine.claim_all()
        return chain.from_iterable(map(embedded_versions, self._logs()))

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Replace all vectors, record their embedder and apply `delta`, in one transaction. All vectors are in memory.

        Raises:
            InputError: a vector has another length, a version gets no vector, or the delta does not fit.
        """
        with self.transaction():
            self.engine.claim_all()
            replace_vectors(self._logs(), vectors, dimension)
            self.engine.record_embedder(embedder, dimension)
            self.graph.family.invalidate()
            self.graph.family.renew()
            if delta:
                self.apply(delta)

    def _logs(self) -> list[DeltaLog]:
        return [cast("DeltaLog", self.engine.log(name)) for name in self.namespaces()]
