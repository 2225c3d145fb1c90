"""What only some stores and caches can do, as Protocols; ask with `isinstance`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from neurogated.core.delta import GraphDelta, JournalEntry
from neurogated.core.found import Found
from neurogated.core.model import Vector
from neurogated.core.ports import GraphStorePort

__all__ = [
    "EmbeddedVersion",
    "SupportsCheck",
    "SupportsClear",
    "SupportsCompaction",
    "SupportsExactSearch",
    "SupportsExclusion",
    "SupportsFreezing",
    "SupportsNamespaces",
    "SupportsNodeJournal",
    "SupportsReembedding",
    "SupportsSnapshot",
    "SupportsStatistics",
    "SupportsTransaction",
    "VersionKey",
]

VersionKey = tuple[int, int]
"""What a store identifies a version of a node by; of use to the store only."""


class EmbeddedVersion(NamedTuple):
    """A version of a node that has a vector."""

    key: VersionKey
    content: str
    title: str | None
    speaker: str | None
    found: Found


@runtime_checkable
class SupportsNamespaces(Protocol):
    """Ability of a store: to hold several graphs that never see each other."""

    def in_namespace(self, namespace: str) -> GraphStorePort:
        """Return the graph of that name, made if there is none."""

    def namespaces(self) -> list[str]:
        """Return the names of all graphs, in the order they were made."""

    def drop_namespace(self, namespace: str) -> None:
        """Remove another graph with all its history; one that is open can no longer be used.

        Raises:
            UnknownIdError: there is no graph of that name.
            InputError: it is the graph that this store itself shows.
        """


@runtime_checkable
class SupportsFreezing(Protocol):
    """Ability of a store: to keep whether the memory learns, for all its graphs and in all processes."""

    def is_frozen(self) -> bool:
        """Return whether the memory was told to learn nothing."""

    def record_frozen(self, *, frozen: bool) -> None:
        """Keep whether the memory learns nothing."""


@runtime_checkable
class SupportsNodeJournal(Protocol):
    """Ability of a store: to find the deltas of a node without reading the whole journal."""

    def journal_of(self, node_id: str) -> Iterator[JournalEntry]:
        """Yield the deltas that put or removed a node, oldest first; others may be among them."""


@runtime_checkable
class SupportsTransaction(Protocol):
    """Ability of a store: to make many changes whole or not at all."""

    def transaction(self) -> AbstractContextManager[None]:
        """Run a block of changes, in any namespace, as one: if it raises, none of them was ever made.

        A namespace that was made in the block can then no longer be used.
        """


@runtime_checkable
class SupportsReembedding(Protocol):
    """Ability of a store: to take the vectors of another embedder, for the past as well."""

    def embedded_versions(self) -> Iterator[EmbeddedVersion]:
        """Yield every version of a node, past or present, that has a vector; all of one node in a row."""

    def replace_vectors(
        self, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]], delta: GraphDelta
    ) -> None:
        """Put new vectors in the place of all there are and apply `delta`, whole or not at all."""


@runtime_checkable
class SupportsCompaction(Protocol):
    """Ability of a store: to erase for good what was removed."""

    def compact(self, *, history: bool = False) -> int:
        """Erase removed nodes, of all namespaces, with all their history, and keep nothing of their texts.

        Afterwards `as_of` and `undo` show the past without them. A look at the past that was taken before is a copy.

        Args:
            history: erase also the past versions of the nodes that stay; then the past shows these as they are now,
                from when they were first put. Edges and the list of changes stay.

        Returns:
            How many nodes were erased.

        Raises:
            InputError: within a transaction, which could not be taken back.
            StorageError: another process reads just now; the nodes are erased, but not yet from all of the disk.
        """


@runtime_checkable
class SupportsSnapshot(Protocol):
    """Ability of a store: to be copied whole while in use."""

    def snapshot(self, path: Path) -> None:
        """Write all graphs, as they are at this moment, to one file; raises StorageError."""


@runtime_checkable
class SupportsClear(Protocol):
    """Ability of a cache: to forget all it holds."""

    def clear(self) -> None:
        """Forget everything, also on disk; raises StorageError where that cannot be done now."""


@runtime_checkable
class SupportsCheck(Protocol):
    """Ability of a store: to look through what it has on disk."""

    def check(self) -> list[str]:
        """Return what is wrong, a line each; none if it is sound."""


@runtime_checkable
class SupportsStatistics(Protocol):
    """Ability of a part: to say how much it holds and how much it was used."""

    def statistics(self) -> Mapping[str, int | float]:
        """Return figures by name; what is counted, is counted since the part was made."""


@runtime_checkable
class SupportsExactSearch(Protocol):
    """Ability of a store: to find the most similar nodes without overlooking one."""

    @property
    def exact_below(self) -> int:
        """Below so many vectors, `nearest` compares all of them; searches among more may be approximate."""


@runtime_checkable
class SupportsExclusion(Protocol):
    """Ability of a store: to keep other threads and processes from writing."""

    def exclusively(self, patience: float | None = None) -> AbstractContextManager[None]:
        """Run a block that reads the graph and acts on it while nobody else writes; it may be within another.

        Args:
            patience: how many seconds to wait for others; the settings when left out.

        Raises:
            MemoryLockedError: somebody else has not ended a write.
        """
