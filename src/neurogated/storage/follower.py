"""`Follower`: what brings a graph index up to date with its log; the plain one replays deltas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext

from neurogated.config.memory_config import MemoryConfig
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.log import Engine, Log
from neurogated.storage.log.records import MemoryRecords, Records
from neurogated.storage.resolve import Plan, make_plan

__all__ = ["Follower", "ReplayFollower"]


class Follower(ABC):
    """Makes the index of one store and lets it follow the log. The lock of the engine is held in all calls."""

    shares = True
    """Whether other threads may read what was published last while one holds the lock."""
    borrows = False
    """Whether the index refers to another one, so that every question catches up and is answered under the lock."""
    searching: AbstractContextManager[object] = nullcontext()
    """Held while the index is searched."""

    @abstractmethod
    def load(self) -> GraphIndex | None:
        """Return an index of all that the log holds; None where the graph was dropped."""

    @abstractmethod
    def is_behind(self, index: GraphIndex) -> bool:
        """Return whether others may have written what an index lacks; one look."""

    @abstractmethod
    def follow(self, index: GraphIndex) -> bool:
        """Take in what an index lacks; False where it has to be loaded again."""

    @abstractmethod
    def records(self, index: GraphIndex) -> Records:
        """Return what the columns of an index do not hold, as it is now."""

    # What a follower does that keeps its index on disk, or reads records from there

    def steady(self) -> AbstractContextManager[object]:
        """Let no other process erase records within the block."""
        return nullcontext()

    def is_worth_waiting(self) -> bool:
        """Return whether a reader should wait a moment for the lock, since others may have written."""
        return False

    def note(self, plan: Plan, index: GraphIndex) -> None:  # noqa: B027 - for those that keep it
        """Note that a change was made in an index."""

    def may_unload(self, index: GraphIndex) -> bool:  # noqa: ARG002 - whichever
        """Return whether an index may be let go of and loaded again later; asked again where it may not yet."""
        return False

    def wait(self, index: GraphIndex) -> None:  # noqa: B027 - for those that keep it
        """Wait until an index is kept; the lock is not held."""

    def cancel(self) -> None:  # noqa: B027 - for those that keep it
        """Stop keeping an index."""


class ReplayFollower(Follower):
    """Replays the deltas of a log."""

    def __init__(self, engine: Engine, namespace: str, log: Log, config: MemoryConfig) -> None:
        self._engine = engine
        self._namespace = namespace
        self._log = log
        self._config = config
        self._epoch = -1

    def load(self) -> GraphIndex | None:
        """Return an index of all deltas; None where the engine has no such graph any more."""
        if self._namespace not in self._engine.namespaces():
            return None
        index = GraphIndex(self._config)
        index.records, self._epoch = MemoryRecords(), self._log.position().epoch
        self.follow(index)
        return index

    def is_behind(self, index: GraphIndex) -> bool:
        """Return whether the log is elsewhere."""
        return self._log.position() != (self._epoch, index.topology.sequence)

    def follow(self, index: GraphIndex) -> bool:
        """Replay what is new; False where the log was rewritten or taken back."""
        position = self._log.position()
        if position.epoch != self._epoch or position.sequence < index.topology.sequence:
            return False
        for entry in self._log.entries(index.topology.sequence):
            plan = make_plan(index.topology.view(), entry.delta)
            index.commit(plan, entry.sequence)
            index.commit_validity(plan)
        index.embedder = self._engine.embedder
        return True

    def records(self, index: GraphIndex) -> Records:
        """Return what the index holds itself."""
        return index.records or MemoryRecords()
