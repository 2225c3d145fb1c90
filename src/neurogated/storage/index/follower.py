"""`Follower`: brings a graph index up to date with its log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext

from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.records import Records


class Follower(ABC):
    """Builds the index of one store and applies new log entries to it. Callers hold the lock of the engine."""

    shares = True
    """Whether other threads may read the last published state while one thread holds the lock."""
    borrows = False
    """Whether the index refers to another index, so that every read first catches up and then runs under the lock."""

    @abstractmethod
    def load(self) -> GraphIndex | None:
        """Return an index of the whole log; None if the graph was dropped."""

    @abstractmethod
    def is_behind(self, index: GraphIndex) -> bool:
        """Return whether the log may hold deltas that the index lacks; must be quick."""

    @abstractmethod
    def follow(self, index: GraphIndex) -> bool:
        """Apply new deltas to the index; return False if the index must be reloaded."""

    @abstractmethod
    def records(self, index: GraphIndex) -> Records:
        """Return the records of the index: the fields that its columns do not hold."""

    # For followers that write checkpoints or read records from disk

    def steady(self) -> AbstractContextManager[object]:
        """Prevent other processes from erasing records within the block."""
        return nullcontext()

    def unchanged_since(self) -> float:
        """Return the time, by `time.monotonic`, since which no other process has written to the log."""
        return 0.0

    def is_end(self, sequence: int) -> bool:  # noqa: ARG002 - for followers that may ask without the lock
        """Return whether the log ends with this delta; the caller may lack the lock."""
        return False

    def note(self, plan: Plan, index: GraphIndex) -> None:  # noqa: B027 - only followers with checkpoints need it
        """Record that a plan changed the index."""

    def may_unload(self, index: GraphIndex) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether the index may be unloaded now; after False, the caller asks again later."""
        return False

    def wait(self, index: GraphIndex) -> None:  # noqa: B027 - only followers with checkpoints need it
        """Wait until the checkpoint of the index is written; the caller must not hold the lock."""

    def cancel(self) -> None:  # noqa: B027 - only followers with checkpoints need it
        """Cancel a checkpoint in progress."""
