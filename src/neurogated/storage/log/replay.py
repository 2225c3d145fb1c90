"""`ReplayFollower`: brings a graph index up to date by replaying deltas."""

from __future__ import annotations

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import GraphDelta
from neurogated.storage.index.follower import Follower
from neurogated.storage.index.graph.resolve import make_plan
from neurogated.storage.index.graph.stored import without_terms
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.records import MemoryRecords, Records
from neurogated.storage.log.log import Engine, Log


class ReplayFollower(Follower):
    """Replays the deltas of a log."""

    def __init__(self, engine: Engine, namespace: str, log: Log, config: MemoryConfig) -> None:
        self._engine = engine
        self._namespace = namespace
        self._log = log
        self._config = config
        self._epoch = -1

    def load(self) -> GraphIndex | None:
        """Return an index of all deltas; None if the engine no longer has the graph."""
        if self._namespace not in self._engine.namespaces():
            return None
        index, self._epoch = self._empty(), self._log.position().epoch
        self.follow(index)
        return index

    def is_behind(self, index: GraphIndex) -> bool:
        """Return whether the position of the log differs from that of the index."""
        return self._log.position() != (self._epoch, index.topology.sequence)

    def follow(self, index: GraphIndex) -> bool:
        """Replay new deltas; return False if the log was rewritten or rolled back."""
        position = self._log.position()
        if position.epoch != self._epoch or position.sequence < index.topology.sequence:
            return False
        for entry in self._log.entries(index.topology.sequence):
            self._replay(index, entry.sequence, entry.delta)
        index.embedder = self._engine.embedder
        return True

    def records(self, index: GraphIndex) -> Records:
        """Return the records that the index holds."""
        return index.records or MemoryRecords()

    def _empty(self) -> GraphIndex:
        index = GraphIndex(self._config)
        index.records = MemoryRecords()
        return index

    def _replay(self, index: GraphIndex, sequence: int, delta: GraphDelta) -> None:
        delta = without_terms(delta) if index.computes_terms else delta
        plan = make_plan(index.topology.view(), delta)
        outcomes = index.planned_outcomes(plan, self.records(index))
        index.commit(plan, sequence)
        index.commit_validity(plan, outcomes)
