"""`Log`: the journal of a graph, the one part that a new engine implements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry

__all__ = ["Log", "Position"]


class Position(NamedTuple):
    """How far a log has come."""

    epoch: int
    """Changes when the log is rewritten; stores then rebuild their index."""
    sequence: int
    """The number of the last delta, 0 while there is none."""


class Log(Protocol):
    """The journal of one graph. Stores follow it; any number of them may, in any number of processes.

    What `append` wrote is durable when it returns, or when the transaction around it ends. A log holds deltas that a
    store has found valid, and need not look into them.
    """

    def position(self) -> Position:
        """Return how far the log has come, with what this process is writing; it is asked before every read."""

    def append(self, delta: GraphDelta) -> int:
        """Add a delta; return its number, which is one more than that of the last."""

    def entries(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, oldest first."""

    def history(self) -> list[HistoryEntry]:
        """Return a line for every delta, oldest first; `rewrite` leaves it as it is."""

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        """Replace all deltas, keep their numbers, and begin a new epoch."""

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
        """Name and dimension of the embedder of all graphs of the engine, None while there is none."""

    def record_embedder(self, name: str, dimension: int) -> None:
        """Keep the embedder's name and dimension."""

    def in_namespace(self, name: str) -> Log:
        """Return the log of another graph of the engine, made if there is none."""

    def namespaces(self) -> list[str]:
        """Return the names of all graphs, in the order they were made."""

    def drop_namespace(self, name: str) -> None:
        """Erase another graph with its deltas."""

    def close(self) -> None:
        """Release what the log holds."""
