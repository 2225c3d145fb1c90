"""`Log` and `Engine`: the journal of a graph, and what keeps journals; a new engine implements these two."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry

if TYPE_CHECKING:
    from neurogated.config.memory_config import MemoryConfig
    from neurogated.storage.follower import Follower
    from neurogated.storage.graph_state import GraphState
    from neurogated.storage.index.graph_index import GraphIndex
    from neurogated.storage.resolve import Plan

__all__ = [
    "Engine",
    "Log",
    "Position",
    "SupportsEntriesOf",
    "SupportsErasure",
    "SupportsFollowing",
    "SupportsPast",
    "SupportsRewriting",
]


class Position(NamedTuple):
    """How far a log has come."""

    epoch: int
    """Changes when the log is rewritten; stores then rebuild their index."""
    sequence: int
    """The number of the last delta, 0 while there is none."""


class Log(Protocol):
    """The journal of one graph. Stores follow it; any number of them may, in any number of processes.

    When `append` returns, the delta is durable, or becomes so when the transaction around it ends. A log holds deltas
    that a store has found valid, and need not look into them.
    """

    def position(self) -> Position:
        """Return how far the log has come, with what this process is writing; it is asked before every read."""

    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Add the delta of a plan; return its number, one more than that of the last.

        A log that `SupportsPast` may leave numbers out.

        Args:
            plan: the delta with its rows.
            index: of which they are rows; it holds all deltas before this one.
        """

    def entries(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, oldest first."""

    def history(self) -> list[HistoryEntry]:
        """Return a line for every delta, oldest first; compaction leaves it as it is."""


class Engine(Protocol):
    """What keeps the logs of one memory: a file, a server, a dictionary. One object is one connection to it."""

    @property
    def lock(self) -> threading.RLock:
        """The threads that use this object take turns by it."""

    def log(self, namespace: str) -> Log:
        """Return the log of a graph, made if there is none."""

    def namespaces(self) -> list[str]:
        """Return the names of all graphs, in the order they were made."""

    def drop_namespace(self, name: str) -> None:
        """Erase a graph that there is, with its deltas."""

    def writing(self, patience: float | None = None) -> AbstractContextManager[object]:
        """Run a block that holds the write lock of the engine; it may be within another.

        Args:
            patience: how many seconds to wait for the lock; the engine decides when left out.

        Raises:
            MemoryLockedError: another process or thread holds the write lock.
        """

    def transaction(self) -> AbstractContextManager[object]:
        """Run a block as one transaction over all graphs, within `writing`. Other stores see its deltas when it ends.

        If the block raises, none of them was appended. It may be within another.
        """

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder of all graphs, None while there is none."""

    def record_embedder(self, name: str, dimension: int) -> None:
        """Keep the embedder's name and dimension."""

    def is_frozen(self) -> bool:
        """Return whether the memory was told to learn nothing."""

    def record_frozen(self, *, frozen: bool) -> None:
        """Keep whether the memory learns nothing."""

    def close(self) -> None:
        """Release what the engine holds."""


@runtime_checkable
class SupportsRewriting(Protocol):
    """Ability of a log: to have its deltas replaced, by which a store compacts it."""

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        """Replace all deltas, keep their numbers, and begin a new epoch."""


@runtime_checkable
class SupportsErasure(Protocol):
    """Ability of an engine: to compact its logs itself."""

    def erase_removed(self, *, history: bool) -> int:
        """Erase the removed nodes of all graphs, and return how many there were; see `GraphStore.compact`."""

    def erasing(self) -> AbstractContextManager[object]:
        """Run a block in which nobody writes what is derived from the logs; entered before the lock of the engine."""


@runtime_checkable
class SupportsEntriesOf(Protocol):
    """Ability of a log: to find the deltas that put or removed a node without reading the others."""

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:
        """Yield the deltas that put or removed a node, oldest first."""


@runtime_checkable
class SupportsFollowing(Protocol):
    """Ability of a log: to fill the columns of an index, where replaying its deltas would take too long."""

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> Follower:
        """Return what brings an index up to date.

        Args:
            config: settings, of which those of storage count.
            current: returns the index in use, None where it does not show what the log holds.
        """


@runtime_checkable
class SupportsPast(Protocol):
    """Ability of a log: to show the graph as it once was, without replaying its deltas."""

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]:
        """Return an engine whose logs show the graph as it was after a delta, and the time that it was then.

        Args:
            sequence: the number of the delta.
            moment: the time; that of the delta when left out.
            present: returns the graph as it is.
        """

    def last_before(self, moment: datetime) -> int:
        """Return the number of the last delta that was made at a time or before, 0 if there is none."""
