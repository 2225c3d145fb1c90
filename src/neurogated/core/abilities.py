"""Optional abilities of stores and caches, as Protocols; ask with `isinstance`."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from neurogated.core.delta import GraphDelta
from neurogated.core.found import Found
from neurogated.core.model import Vector
from neurogated.core.ports import GraphStorePort

VersionKey = tuple[int, int]
"""The key by which a store identifies a version of a node. Only that store can interpret it."""


class EmbeddedVersion(NamedTuple):
    """A version of a node that has a vector."""

    key: VersionKey
    content: str
    title: str | None
    speaker: str | None
    found: Found


@runtime_checkable
class SupportsNamespaces(Protocol):
    """Ability of a store: to hold a memory of several graphs, isolated from each other, with what holds for all.

    It may record URLs, without passwords, of the servers and files outside its folder that have received its texts or
    ids. An erasure is complete only when each of them has confirmed it.
    """

    @property
    def identity(self) -> tuple[str, int]:
        """A text that no other memory has, and a number that changes when past deltas are rewritten."""

    def in_namespace(self, namespace: str) -> GraphStorePort:
        """Return the graph with that name; create it if it does not exist."""

    def namespaces(self) -> list[str]:
        """Return the names of all graphs in the order of their creation."""

    def drop_namespace(self, namespace: str) -> None:
        """Remove another graph with all its history. An open handle on it becomes unusable.

        Raises:
            UnknownIdError: no graph has that name.
            InputError: the name is that of the graph that this store shows.
        """

    def transaction(self) -> AbstractContextManager[None]:
        """Run a block of changes of any graphs atomically: if it raises, all are rolled back.

        A graph that the block created is then unusable.
        """

    def exclusively(self, patience: float | None = None) -> AbstractContextManager[None]:
        """Hold the write lock while a block reads the graph and acts on it. Blocks may be nested.

        It waits for `patience` seconds, the configured time if omitted, and then raises MemoryLockedError.
        """

    def is_frozen(self) -> bool:
        """Return whether the memory learns nothing, in all graphs and processes."""

    def record_frozen(self, *, frozen: bool) -> None:
        """Record whether it learns nothing."""

    def copies(self) -> list[str]:
        """Return the places that have received its texts or ids, in alphabetical order."""

    def record_copy(self, place: str, *, exists: bool = True) -> None:
        """Record a place before it receives anything, or remove the record of one that does not exist any more."""

    def compute_terms(self, most: int) -> None:
        """Compute the TERM edges of its graphs from their texts, for `GraphView.computed`.

        It computes them for keywords that at most `most` texts of a user have; 0 shows stored edges only. Stored TERM
        edges, which older memories have, then count as removed, and nobody may store any.
        """


@runtime_checkable
class SupportsTouched(Protocol):
    """Ability of a store: to say which nodes changed without reading the deltas."""

    def touched(self, kind: str, edge_type: str, after: int, up_to: int) -> Mapping[str, int]:
        """Return the ids of changed nodes of a kind, each with the number of its last change.

        Args:
            kind: the kind of the nodes, before or after the change.
            edge_type: the value of a type; putting or removing an edge of this type changes the node that it leaves.
            after: only deltas numbered above it.
            up_to: only deltas numbered up to it.
        """

    def last_change(self, up_to: int) -> tuple[int, int]:
        """Return number and time, in microseconds, of the last delta up to `up_to` with more than uses, else zeros."""


@runtime_checkable
class SupportsReembedding(Protocol):
    """Ability of a store: to replace all vectors, also those of past versions, by those of another embedder."""

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Return every version of a node, past or present, that has a vector. Versions of one node are consecutive.

        Within a transaction, other processes can neither write nor make graphs from this call until it ends.
        """

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Replace all vectors by `vectors` and apply `delta`, atomically."""


@runtime_checkable
class SupportsCompaction(Protocol):
    """Ability of a store: to erase removed nodes for good."""

    def compact(self, *, history: bool = False) -> int:
        """Erase the removed nodes of all namespaces, with their history and texts.

        A node that was removed and put again loses its history before the removal. Past versions that were derived from
        erased ones are erased, too; the past then shows the next version.

        Afterwards `as_of` and `undo` show the past without them. Views of the past taken earlier are copies and stay.

        Args:
            history: erase also the past versions of live nodes, ended edges and past weights. The past then shows each
                node in its present version from the time of its first put, and changes until now cannot be undone.
                The list of changes stays.

        Returns:
            How many nodes were erased.

        Raises:
            InputError: the call is inside a transaction, which could not be rolled back.
            StorageError: another process is reading. The nodes are erased, but some of their bytes remain on disk.
        """

    def erased_up_to(self) -> int:
        """Return the number of the last change whose past versions and edges were erased; 0 if there is none.

        The states before it lack what was replaced later, so nothing may be removed because they lack it.
        """

    def record_erased(self, up_to: int) -> None:
        """Record that the past up to the change number `up_to` was erased."""


@runtime_checkable
class SupportsBackup(Protocol):
    """Ability of a store: to write the state of all graphs to one file while in use; it raises StorageError."""

    def backup(self, path: Path) -> None: ...


@runtime_checkable
class SupportsClear(Protocol):
    """Ability of a cache: to delete all its entries, also those on disk; raises StorageError if that fails."""

    def clear(self) -> None: ...


@runtime_checkable
class SupportsCheck(Protocol):
    """Ability of a store: to verify its files. It returns the faults found, one a line; none if the store is sound."""

    def check(self) -> list[str]: ...


@runtime_checkable
class SupportsStatistics(Protocol):
    """Ability of a part: to report its size and its counters by name. Counters start at 0 when it is created."""

    def statistics(self) -> Mapping[str, int | float]: ...
