"""`Committer`: the one way in which the parts of a memory write to its graph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import replace

from neurogated.core.abilities import SupportsExclusion
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.ports import GraphStorePort

CAUSE: ContextVar[str | None] = ContextVar("cause", default=None)
"""What makes the present changes besides the caller, such as a policy; it begins their reasons."""

Plan = Callable[[], GraphDelta]
"""Reads the graph and returns the delta to write."""


class Committer:
    """Locks a graph, computes a delta, and applies it."""

    def __init__(self, store: GraphStorePort, is_frozen: Callable[[], bool] = lambda: False) -> None:
        """Take the graph; `is_frozen` says whether it may not learn now."""
        self.store = store
        self._is_frozen = is_frozen
        self._own_lock = store if isinstance(store, SupportsExclusion) else None
        # For a store without a lock of its own.
        self._lock = threading.RLock()
        self.sequence = -1
        """The number of the last delta that was written here."""

    def exclusively(self, patience: float | None = None) -> AbstractContextManager[object]:
        """Lock the graph for a block that reads it and then writes; no other thread changes its texts meanwhile.

        If the store has a write lock, this is the only lock. A second lock could deadlock with a thread that holds a
        transaction of the store.

        Args:
            patience: wait at most this many seconds for the lock of the store; then it raises MemoryLockedError.
        """
        return self._lock if self._own_lock is None else self._own_lock.exclusively(patience)

    def commit(self, plan: Plan, *, learns: bool = False, patience: float | None = None) -> GraphDelta:
        """Write the delta that `plan` computes under the write lock, if it changes anything; return it.

        Args:
            plan: computes the delta.
            learns: whether a frozen graph refuses the delta, because it comes from use.
            patience: see `exclusively`.
        """
        with self.exclusively(patience):
            delta = GraphDelta() if learns and self._is_frozen() else plan()
            self.write(delta)
        return delta

    def write(self, delta: GraphDelta) -> None:
        """Write a delta if it changes anything; the caller holds the lock."""
        if delta:
            cause = CAUSE.get()
            if cause is not None or delta.owner is None:
                reason = delta.reason if cause is None else f"{cause}: {delta.reason}"
                written = replace(delta, owner=delta.owner or Owner.MEMORY, reason=reason)
            else:
                written = delta
            self.sequence = self.store.apply(written)
