"""`DurableStore`: a graph of a memory that outlives the process, in a file; `DatabaseStore`: one in a database."""

import contextlib
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, starmap
from pathlib import Path
from typing import Generic, Self, TypeVar, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import EmbeddedVersion, SupportsCheck, SupportsReembedding, VersionKey
from neurogated.core.clock import Clock, utc_now
from neurogated.core.delta import GraphDelta, JournalEntry
from neurogated.core.model import MemoryNode, Vector, as_vector
from neurogated.errors import InputError
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.delta_log import DatabaseEngine, DeltaLog
from neurogated.storage.log.log import Engine
from neurogated.storage.verify import disagreements

_Engine = TypeVar("_Engine", bound=Engine)
_Database = TypeVar("_Database", bound=DatabaseEngine)


class DurableStore(GraphStore, SupportsCheck, SupportsReembedding, Generic[_Engine]):
    """A `GraphStore` whose engine is a file or a database. Each process has an index of the whole graph.

    Several stores, in several processes, may have one memory open. A write waits for its turn. A write or a new view
    first applies the writes of other processes.
    """

    @property
    def engine(self) -> _Engine:
        """The file or the database."""
        return cast("_Engine", self.graph.family.engine)

    @classmethod
    def open(
        cls,
        place: str | Path,
        namespace: str = MemoryConfig().namespace,
        *,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        from_scratch: bool = False,
        read_only: bool = False,
    ) -> Self:
        """Open or create the memory at `place`.

        Args:
            place: a file, or the URL of a database; the store of each kind of databases says of which form.
            namespace: the graph to open.
            config: only the storage settings are read; defaults to `MemoryConfig()`.
            clock: returns the current time.
            from_scratch: first drop the memory that is there.
            read_only: open an existing memory; other processes may write to it, and their writes appear as whole
                deltas.

        Raises:
            ConfigError: the URL is none of such a database, or has an unknown option.
            MemoryLockedError: another process has not finished its write, or has the file open and `from_scratch` is
                set.
            CorruptMemoryError: the file is damaged or is not a memory.
            FormatVersionError: another version of this library made the memory.
            StorageError: the file cannot be read or written; the database cannot be reached, or refuses the user.
        """
        config = config or MemoryConfig()
        patience = config.runtime.write_lock_seconds
        engine = cls.connected(str(place), from_scratch=from_scratch, read_only=read_only, patience=patience)
        try:
            store = cls(engine=engine, namespace=namespace, config=config, clock=clock)
            store.tidy()
        except BaseException:
            engine.close()
            raise
        return store

    @staticmethod
    @abstractmethod
    def connected(place: str, *, from_scratch: bool, read_only: bool, patience: float) -> _Engine:
        """Return the engine of the memory at `place`, whose writes wait `patience` seconds. Raises like `open`."""

    def tidy(self) -> None:
        """Remove what earlier openings have left."""

    def check(self) -> list[str]:
        """Return the faults of the memory, one per line; none if it is sound.

        This reads every delta, rebuilds every graph from its journal, and compares it with the graph, vectors and
        keywords that this process uses.
        """
        stores = {name: self.in_namespace(name) for name in self.namespaces()}
        return [f"namespace {name!r}: {line}" for name, store in stores.items() for line in store.faults()]

    def faults(self) -> list[str]:
        """Return the faults of this graph, one per line."""
        # Of one state, while other processes write.
        with self.graph.lock, self.graph.follower.steady():
            self.graph.catch_up()
            return disagreements(self)

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Replace all vectors, record their embedder and apply `delta`, in one transaction.

        Raises:
            InputError: a vector has another length, a version gets no vector, or the delta does not fit.
        """
        with self.transaction():
            self.put_vectors(vectors, dimension)
            self.engine.record({"embedder": embedder, "dimension": dimension})
            self.graph.family.invalidate()
            self.graph.family.renew()
            if delta:
                self.apply(delta)

    @abstractmethod
    def put_vectors(self, vectors: Iterable[tuple[VersionKey, Vector]], dimension: int) -> None:
        """Replace all vectors, within a transaction."""


class DatabaseStore(DurableStore[_Database]):
    """A `DurableStore` in a database. When `apply` returns, the change is committed."""

    @contextlib.contextmanager
    def still_copy(self) -> Iterator[Self]:
        """Give another store on this memory, in which no graph changes until the block ends; others may write."""
        url, config = self.engine.url, self.graph.family.config
        with type(self).open(url, self.graph.name, config=config, read_only=True) as copy, copy.transaction():
            yield copy

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Return every version, past or present, of a node with a vector, in all namespaces."""
        self.engine.claim_all()
        return chain.from_iterable(map(_embedded, self._logs()))

    def put_vectors(self, vectors: Iterable[tuple[VersionKey, Vector]], dimension: int) -> None:
        """Replace all vectors, which are all in memory; see `DurableStore`."""
        self.engine.claim_all()
        given = dict(vectors)

        def changed(key: VersionKey, node: MemoryNode) -> MemoryNode:
            if node.embedding is None:
                return node
            vector = given.pop(key, None)
            if vector is None or len(vector) != dimension:
                raise InputError(f"node {node.id!r} gets no vector of dimension {dimension}; give one to each version")
            return node.changed(embedding=as_vector(vector))

        for log in self._logs():
            number = log.number
            log.rewrite(
                [
                    replace(entry.delta, nodes=tuple(starmap(changed, _versions(number, entry))))
                    for entry in log.entries()
                ]
            )
        if given:
            raise InputError("a vector was given for no version; give those of embedded_versions alone")

    def _logs(self) -> list[DeltaLog]:
        return [cast("DeltaLog", self.engine.log(name)) for name in self.namespaces()]


def _embedded(log: DeltaLog) -> Iterator[EmbeddedVersion]:
    """Yield every version of a node of a graph with a vector; the versions of one node are consecutive."""
    versions: dict[str, list[EmbeddedVersion]] = defaultdict(list)
    number = log.number
    for entry in log.entries():
        for key, node in _versions(number, entry):
            if node.embedding is not None:
                versions[node.id].append(EmbeddedVersion(key, node.content, node.title, node.speaker, node.found))
    yield from chain.from_iterable(versions.values())


_MOST_NODES = 1 << 24
"""A delta has fewer nodes."""


def _versions(number: int, entry: JournalEntry) -> Iterator[tuple[VersionKey, MemoryNode]]:
    """Yield the nodes that a delta puts into the graph `number`, each with its key."""
    for key, node in enumerate(entry.delta.nodes, entry.sequence * _MOST_NODES):
        yield (number, key), node
