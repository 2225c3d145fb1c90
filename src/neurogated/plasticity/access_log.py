"""The access log collects the accesses of recalls in all namespaces and writes them in batches."""

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from neurogated.core.clock import Clock
from neurogated.core.commit import WOKEN, Committer
from neurogated.core.delta import Access, GraphDelta
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import UserChoice
from neurogated.core.view import GraphView
from neurogated.errors import MemoryClosedError, MemoryLockedError, StorageError
from neurogated.plasticity.energy import EnergyController

_log = logging.getLogger(__name__)

_Logged = tuple[Access, datetime, bool]
"""An access, its time, and whether it is that of a user, who changes no memories without a user."""


class AccessLog:
    """Collects the accesses of recalls and writes them as one delta for each graph. Thread-safe."""

    def __init__(self, clock: Clock, energies: EnergyController, seconds: float, open_namespaces: int) -> None:
        """Describe when to write: at the first recall that finds the oldest access `seconds` old.

        A recall also writes the log when the log names more than half of `open_namespaces` graphs, while these graphs
        are still open. `energies` computes the energies after the accesses.
        """
        self._clock = clock
        self._energies = energies
        self._interval = timedelta(seconds=seconds)
        self._most_graphs = max(1, open_namespaces // 2)
        self._accesses: dict[GraphStorePort, list[_Logged]] = {}
        self._since = self._last = clock()
        self._lock = threading.Lock()

    def add(self, store: GraphStorePort, mark: Access, user_id: UserChoice = None) -> None:
        """Add the accesses of a recall, those by a user without the shared memories; write the log if it is due."""
        with self._lock:
            # The time of an access is the time of the recall, not of the write.
            self._last = self._clock()
            self._accesses.setdefault(store, []).append((mark, self._last, isinstance(user_id, str)))
            due = self._last - self._since >= self._interval or len(self._accesses) > self._most_graphs
        if due:
            self.flush_if_free()

    def flush(self) -> None:
        """Write the log; raises StorageError for a graph that cannot be written, after the others."""
        if errors := self._write():
            raise errors[0]

    def flush_if_free(self) -> None:
        """Write the log without waiting: the accesses of a graph that another writer has locked stay in it."""
        self.flush_if_possible(patience=0)

    def flush_if_possible(self, patience: float | None = None) -> None:
        """Write the log. The accesses of a graph that cannot be written are lost; a warning says so."""
        for error in self._write(patience):
            # Only accesses may be lost: a recall succeeds even when the disk is full.
            _log.warning("the accesses of recalls could not be written: %s", error)

    def _write(self, patience: float | None = None) -> list[StorageError | MemoryClosedError]:
        """Write the log. Accesses of a graph that stays locked for `patience` seconds remain in the log."""
        with self._lock:
            accesses, self._accesses = self._accesses, {}
            self._since, at = self._clock(), self._last
        errors: list[StorageError | MemoryClosedError] = []
        for store, logged in accesses.items():
            if not (marks := [one for one in logged if one[0]]):
                continue
            try:
                Committer(store).commit(partial(self._delta, store, marks, at), patience=patience)
            except (StorageError, MemoryClosedError) as error:
                if patience is not None and isinstance(error, MemoryLockedError):
                    with self._lock:
                        self._accesses[store] = marks + self._accesses.get(store, [])
                    continue
                # A closed store belongs to a dropped namespace, whose accesses are gone too.
                if not store.closed:
                    errors.append(error)
        return errors

    def _delta(self, store: GraphStorePort, logged: Sequence[_Logged], at: datetime) -> GraphDelta:
        """Return the delta of accesses; it is journaled only if they wake dormant nodes."""
        view = store.view()
        shared = _shared(view, [mark for mark, _, is_of_user in logged if is_of_user])
        marks = [(mark.without(shared) if is_of_user and shared else mark, then) for mark, then, is_of_user in logged]
        if not any(mark for mark, _ in marks):
            return GraphDelta()
        found = self._energies.uses(view, marks)
        mark = replace(Access.gathered(mark for mark, _ in marks), charges=found.charges)
        reason = f"{WOKEN}{len(found.changes)} dormant memories woke" if found.changes else "touch"
        return GraphDelta(touch=mark, node_changes=found.changes, reason=reason, at=at)


def _shared(view: GraphView, marks: Iterable[Access]) -> set[str]:
    rows = view.known_rows(
        chain.from_iterable((*mark.nodes, *chain.from_iterable(key[:2] for key in mark.edges)) for mark in marks)
    )
    scopes = zip(rows.tolist(), view.scope.take(rows).tolist(), strict=True)
    return {view.ids[row] for row, scope in scopes if view.scopes[scope].user_id is None}
