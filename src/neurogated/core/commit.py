"""`Committer`: the one way in which the parts of a memory write to its graph; and the reasons that they give."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.delta import LATEST, GraphDelta, HistoryEntry, Owner
from neurogated.core.ports import GraphStorePort

CAUSE: ContextVar[str | None] = ContextVar("cause", default=None)
"""What makes the present changes besides the caller, such as a policy; it begins their reasons."""

Plan = Callable[[], GraphDelta]
"""Reads the graph and returns the delta to write."""


def newest_first(store: GraphStorePort, before: int = LATEST) -> Iterator[HistoryEntry]:
    """Yield the changes numbered below `before`, latest first; it reads few more than are taken."""
    last, size = min(before - 1, store.view().sequence), 16
    while last > 0:
        first = max(last - size, 0)
        yield from reversed(store.history(first, last))
        last, size = first, 2 * size


class Committer:
    """Locks a graph, computes a delta, and applies it."""

    def __init__(self, store: GraphStorePort, is_frozen: Callable[[], bool] = lambda: False) -> None:
        """Take the graph; `is_frozen` says whether it may not learn now."""
        self.store = store
        self._is_frozen = is_frozen
        self._own_lock = store if isinstance(store, SupportsNamespaces) else None
        # For a store without a lock of its own.
        self._lock = threading.RLock()
        self.sequence = -1
        """The number of the last delta that was written here."""

    def exclusively(self, patience: float | None = None) -> AbstractContextManager[object]:
        """Lock the graph for a block that reads it and then writes; no other thread changes its texts meanwhile.

        If the store has a write lock, this is the only lock. A second lock could deadlock with a thread that holds a
        transaction of the store. After `patience` seconds it raises MemoryLockedError.
        """
        return self._lock if self._own_lock is None else self._own_lock.exclusively(patience)

    def commit(self, plan: Plan, *, learns: bool = False, patience: float | None = None) -> GraphDelta:
        """Write and return the delta that `plan` computes under the lock; a frozen graph refuses one that `learns`."""
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


DECAYED: Final = "decay_unused"
EXPIRED: Final = "expired"
USER_DELETED: Final = "delete all of a user"
REFRESHED: Final = "refresh items"
DORMANT: Final = "tick: "
"""The beginning of the reason of a tick."""
WOKEN: Final = "use: "
"""The beginning of the reason of uses that wake memories."""
JUDGED: Final = "judge"
READ: Final = "read"
BACKGROUND: Final = "background"
"""The cause of the changes of a background thread."""
TICKED: Final = "on a tick"
_AFTER: Final = re.compile(r"\S+ after ([0-9a-f]{32}): ")
_UNDO: Final = re.compile(r"undo(?: for one user)?, (\d+) back: ")


def after_memory(policy: str, memory: str) -> str:
    """Return the cause of the changes of a policy that runs after a memory was added; `memory` is a hash of its id."""
    return f"{policy} after {memory}"


def added_before(reason: str) -> str | None:
    """Return the hash of the id of the memory after which a policy made a change; None for any other change."""
    found = _AFTER.match(reason)
    return found and found[1]


def undo_of(reason: str, back: int, *, is_whole: bool) -> str:
    """Return the reason of an undo of the change so many entries before it; numbers differ in a copy of the memory."""
    return f"undo{'' if is_whole else ' for one user'}, {back} back: {reason}"


def undone_by(reason: str) -> int | None:
    """Return how many entries before it an undo took back a change; None for any other change."""
    found = _UNDO.match(reason)
    return found and int(found[1])


def comes_with_time(reason: str) -> bool:
    """Return whether a change came because time passed."""
    return reason in {DECAYED, EXPIRED, REFRESHED} or reason.startswith((DORMANT, WOKEN)) or f" {TICKED}: " in reason


def follows(reason: str) -> bool:
    """Return whether a change was computed from memories that were written before, without a call for it."""
    is_of_model = reason in {JUDGED, READ} or reason.startswith(f"{BACKGROUND}: ")
    return is_of_model or added_before(reason) is not None
