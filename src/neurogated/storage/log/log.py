"""`Log`, the journal of a graph, and `Engine`, which holds the journals; a new engine implements these two."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol, runtime_checkable

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import LATEST, GraphDelta, HistoryEntry, JournalEntry
from neurogated.storage.index.follower import Follower
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState


class Position(NamedTuple):
    """The end of a log."""

    epoch: int
    """Changes when the log is rewritten; stores then rebuild their index."""
    sequence: int
    """The number of the last delta, 0 if there is none."""


class Log(Protocol):
    """The journal of one graph. Any number of stores, in any number of processes, may follow it.

    When `append` returns, the delta is durable; within a transaction, it becomes durable when the transaction ends. The
    store has validated every delta, so a log need not check it.
    """

    def position(self) -> Position:
        """Return the end of the log, including uncommitted deltas of this process; called before every read."""

    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Append the delta of a plan; return its number, one more than the last number.

        A log that `SupportsPast` may skip numbers.

        Args:
            plan: the delta with its rows.
            index: the index that these rows belong to; it holds all earlier deltas.
        """

    def entries(self, after: int = 0, up_to: int = LATEST) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, to `up_to`, oldest first."""

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        """Return one entry for each of these deltas, oldest first; compaction does not change them."""

    def erased_up_to(self) -> int:
        """Return the number of the last change whose past was erased; see `SupportsErasedHistory`."""

    def record_erased(self, up_to: int) -> None:
        """Record that the past up to a change was erased; see `SupportsErasedHistory`."""


class Engine(Protocol):
    """Holds the logs of one memory: a file, a server, a dictionary. One object is one connection to it."""

    @property
    def identity(self) -> str:
        """A text that no other memory has; a copy of a memory has another."""

    @property
    def lock(self) -> threading.RLock:
        """Serialises the threads that use this object."""

    def log(self, namespace: str) -> Log:
        """Return the log of a graph; create it if there is none."""

    def namespaces(self) -> list[str]:
        """Return the names of all graphs, in order of creation."""

    def drop_namespace(self, name: str) -> None:
        """Erase an existing graph and its deltas."""

    def writing(self, patience: float | None = None) -> AbstractContextManager[object]:
        """Run a block that holds the write lock of the engine; blocks may nest.

        Args:
            patience: how many seconds to wait for the lock; the engine decides if it is left out.

        Raises:
            MemoryLockedError: another process or thread holds the write lock.
        """

    def transaction(self) -> AbstractContextManager[object]:
        """Run a block as one transaction over all graphs, within `writing`; blocks may nest.

        Other stores see its deltas when it ends. If the block raises, its deltas are rolled back.
        """

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder of all graphs; None if there is none."""

    def record_embedder(self, name: str, dimension: int) -> None:
        """Record the embedder's name and dimension."""

    def is_frozen(self) -> bool:
        """Return whether the memory is frozen: it learns nothing."""

    def record_frozen(self, *, frozen: bool) -> None:
        """Record whether the memory is frozen."""

    def copies(self) -> list[str]:
        """Return the recorded places with copies; see `SupportsCopies`."""

    def record_copy(self, place: str, *, exists: bool) -> None:
        """Record a place with copies, or remove it."""

    def close(self) -> None:
        """Release the resources of the engine."""


@runtime_checkable
class SupportsRewriting(Protocol):
    """Ability of a log: to replace its deltas. A store uses it to compact the log."""

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        """Replace all deltas, keep their numbers, and start a new epoch."""


@runtime_checkable
class SupportsWaiting(Protocol):
    """Ability of an engine: to let a thread that waits for its turn to write follow the writes of other processes."""

    def while_waiting(self, call: Callable[[], None]) -> None:
        """Call `call` again and again during such a wait; the thread holds the lock of the engine."""


@runtime_checkable
class SupportsErasure(Protocol):
    """Ability of an engine: to compact its logs itself."""

    def erase_removed(self, *, history: bool) -> int:
        """Erase the removed nodes of all graphs and return their number; see `GraphStore.compact`."""

    def erasing(self) -> AbstractContextManager[object]:
        """Run a block in which nobody writes checkpoints; enter it before taking the lock of the engine."""


@runtime_checkable
class SupportsEntriesOf(Protocol):
    """Ability of a log: to find the deltas that put or removed a node without reading the others."""

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:
        """Yield the deltas that put or removed a node, oldest first."""


@runtime_checkable
class SupportsFollowing(Protocol):
    """Ability of a log: to fill the columns of an index faster than by replaying its deltas."""

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> Follower:
        """Return a follower that brings an index up to date.

        Args:
            config: only the storage settings are read.
            current: returns the index in use; None if it disagrees with the log.
        """


@runtime_checkable
class SupportsClaiming(Protocol):
    """Ability of a log: to be locked alone, so that the writers of other graphs need not wait."""

    def claim(self) -> None:
        """Lock the graph until the block of `Engine.writing` ends; called before the log is read for a write.

        Raises:
            MemoryLockedError: another process holds the lock of the graph.
        """


@runtime_checkable
class SupportsPast(Protocol):
    """Ability of a log: to show a past state of the graph without replaying its deltas."""

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]:
        """Return an engine whose logs show the graph after a past delta, and the time of that state.

        Args:
            sequence: the number of the delta.
            moment: the time; defaults to the time of the delta.
            present: returns the present state of the graph.
        """

    def last_before(self, moment: datetime) -> int:
        """Return the number of the last delta made at or before a time, 0 if there is none.

        So a later time never shows less, and a write whose clock was ahead hides none of those after it.
        """
