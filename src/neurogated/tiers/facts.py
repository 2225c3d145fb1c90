"""The facts of a memory: read from its graph, and shown as rows by a projection."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from neurogated.core.abilities import SupportsCopies
from neurogated.core.facts import FACTS, Fact, fact_ids, facts_of
from neurogated.core.filters import FilterOptions, filter_of
from neurogated.core.forking import ForkSafeLock
from neurogated.core.outage import Outage
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import FactProjection
from neurogated.errors import MemoryClosedError, StorageError

_log = logging.getLogger(__name__)

_AT_ONCE = 500
_GATHERED_SECONDS = 0.2
"""For so long, the claims of new messages wait for those of later ones: a transaction costs more than a message."""


def read_facts(
    store: GraphStorePort, subject: str | None, attribute: str | None, valid_at: datetime | None, options: FilterOptions
) -> Iterator[Fact]:
    """Yield the facts of a graph that the arguments admit, in the order they were added.

    Names are compared without regard to case.
    """
    view = store.view(valid_at=valid_at, filters=replace(filter_of(options), kinds=FACTS))
    names = [view.ids[row] for row in view.admitted_nodes().tolist()]
    for first in range(0, len(names), _AT_ONCE):
        for fact in facts_of(store, view, names[first : first + _AT_ONCE]):
            if _is_named(fact.subject, subject) and _is_named(fact.attribute, attribute):
                yield fact


def _is_named(name: str, wanted: str | None) -> bool:
    return wanted is None or name.casefold() == wanted.strip().casefold()


class FactFollower:
    """Brings the rows of facts up to date after writes. Thread-safe.

    A write never fails because the database is away. The rows are caught up when it is back.
    """

    def __init__(self, opened: Callable[[], FactProjection], file: Path | None) -> None:
        """Open nothing yet.

        Args:
            opened: returns the projection.
            file: the file of the rows if it is created with the first fact; None for a database of the user.
        """
        self._opened = opened
        self._file = file
        self._outage = Outage("its rows are written when it is back; the memory is complete without it")
        self._waiting: dict[str, GraphStorePort] = {}
        self._lock = ForkSafeLock()
        self._timer: threading.Timer | None = None

    @property
    def place(self) -> str | None:
        """The URL of the database without its password; None for a file in the folder of the memory."""
        return None if self._file is not None else self._opened().place

    def follow(self, store: GraphStorePort, namespace: str, *, erasing: bool = False) -> None:
        """Write the changes of a graph if the database is there, and log the first failure of an outage.

        Args:
            store: the graph.
            namespace: its name.
            erasing: whether rows must go, so that even a database that was away a moment ago is tried again.
        """
        if (erasing or not self._outage.skips) and self._is_needed(store):
            self._try(store, namespace, hurried=True)

    def follow_soon(self, store: GraphStorePort, namespace: str) -> None:
        """Write the changes of a graph in a thread, together with those that follow at once."""
        with self._lock:
            self._waiting[namespace] = store
            # A forked child has a dead copy of the thread of its parent.
            if self._timer is None or not self._timer.is_alive():
                self._timer = threading.Timer(_GATHERED_SECONDS, self._follow_waiting)
                self._timer.name, self._timer.daemon = "neurogated-facts", True
                self._timer.start()

    def close(self) -> None:
        """Write the changes that wait; the stores are still open."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None and timer.is_alive():
            timer.cancel()
            timer.join()
        self._follow_waiting()

    def _follow_waiting(self) -> None:
        with self._lock:
            waiting, self._waiting, self._timer = self._waiting, {}, None
        for namespace, store in waiting.items():
            # The graph may have been dropped, or the memory with it.
            with suppress(MemoryClosedError):
                self.follow(store, namespace)

    def resume(self, store: GraphStorePort, namespace: str) -> None:
        """Write what the file of the rows lacks; a database of the user waits for the next write."""
        if self._file is not None and self._is_needed(store):
            self._try(store, namespace, hurried=False)

    def catch_up(self, store: GraphStorePort, namespace: str, *, hurried: bool = False) -> int:
        """Write the changes of a graph, and return their number; raises StorageError. See `FactProjection`."""
        table = self._opened()
        if table.place is not None and isinstance(store, SupportsCopies):
            store.record_copy(table.place)
        count = table.catch_up(store, namespace, hurried=hurried)
        if self._outage.ended():
            _log.info("the rows of the facts are up to date again")
        return count

    def forget(self, store: GraphStorePort, namespace: str) -> None:
        """Remove the rows of a graph; raises StorageError."""
        if self._is_there():
            self._opened().forget(store, namespace)

    def erase(self, graphs: Mapping[str, GraphStorePort]) -> None:
        """Hold the rows of these graphs only, and leave no removed words in files; raises StorageError."""
        if any(map(self._is_needed, graphs.values())):
            self._opened().erase(graphs)

    @property
    def note(self) -> str | None:
        """The fault of the database; None if it answers."""
        return self._outage.note

    def _try(self, store: GraphStorePort, namespace: str, *, hurried: bool) -> None:
        try:
            self.catch_up(store, namespace, hurried=hurried)
        except StorageError as error:
            self._outage.failed(error)

    def _is_there(self) -> bool:
        return self._file is None or self._file.exists()

    def _is_needed(self, store: GraphStorePort) -> bool:
        return self._is_there() or bool(fact_ids(store.view()))
