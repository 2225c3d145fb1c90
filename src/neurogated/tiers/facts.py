"""Memories by tier, and the facts of the graph as rows that follow it."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from neurogated.config.groups import MetabolismSettings
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.clock import to_micros
from neurogated.core.columns import highest
from neurogated.core.commit import DORMANT, newest_first
from neurogated.core.delta import GraphDelta, NodeChange
from neurogated.core.energy import LAYERS, EnergyLaw, layers_of
from neurogated.core.facts import FACTS, Fact, fact_ids, facts_of
from neurogated.core.filters import FilterOptions, filter_of
from neurogated.core.forking import ForkSafeLock
from neurogated.core.node_kind import FACT, PROFILE
from neurogated.core.outage import Outage
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import FactProjection
from neurogated.core.view import GraphView, Rows
from neurogated.errors import MemoryClosedError, StorageError
from neurogated.text.strings import composed

_log = logging.getLogger(__name__)

_AT_ONCE = 500
_GATHERED_SECONDS = 0.2
"""For so long, the claims of new messages wait for those of later ones: a transaction costs more than a message."""


def read_facts(
    store: GraphStorePort, subject: str | None, attribute: str | None, valid_at: datetime | None, options: FilterOptions
) -> Iterator[Fact]:
    """Yield the facts of a graph that the arguments admit, as added; names are compared without regard to case."""
    view = store.view(valid_at=valid_at, filters=replace(filter_of(options), kinds=FACTS))
    names = view.names(view.admitted_nodes())
    for first in range(0, len(names), _AT_ONCE):
        for fact in facts_of(store, view, names[first : first + _AT_ONCE]):
            if _is_named(fact.subject, subject) and _is_named(fact.attribute, attribute):
                yield fact


def _is_named(name: str, wanted: str | None) -> bool:
    return wanted is None or name.casefold() == composed(wanted).strip().casefold()


class FactFollower:
    """Brings the rows of facts up to date after writes, which never fail because the database is away. Thread-safe."""

    def __init__(self, opened: Callable[[], FactProjection], file: Path | None) -> None:
        """Open nothing yet; `opened` returns the projection in a file, made with the first fact, or in a database."""
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
        """Write the changes of a graph, and log the first failure of an outage; `erasing` does not wait for its end."""
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
        if table.place is not None and isinstance(store, SupportsNamespaces):
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


TIERS = ("canvas", "web", "crystal", "dormant")
"""L1, the awake memories of the most energy; L2, the other awake memories; L3, facts and profiles; and the dormant."""

_CRYSTAL_KINDS = frozenset({FACT, PROFILE})


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tiers of a memory at one time. Every memory is in one tier and in one layer."""

    at: datetime
    counts: Mapping[str, int]
    """The number of memories in each of `TIERS`."""
    layers: Mapping[str, int]
    """The number of memories in each of `LAYERS`."""
    most_energy: tuple[tuple[str, float], ...]
    """Ids and energies of the memories in the tier `canvas`, most energy first."""
    energy: float
    """The mean energy of the memories, 0–1."""


class TierManager:
    """Computes tiers. It changes nothing; `tick` returns a journal entry of the memories that fell dormant."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self._law = EnergyLaw(settings)
        self._canvas_size = settings.canvas_size

    def tiers(self, store: GraphStorePort, view: GraphView, now: datetime) -> Tiers:
        """Return the tiers of the memories that the view admits, at the time `now`."""
        rows, micros = view.admitted_nodes(), to_micros(now)
        energy, dormant = self._law.energy(view, rows, micros), self._law.dormant(view, rows, micros)
        codes = [code for code, kind in enumerate(view.kinds) if kind in _CRYSTAL_KINDS]
        crystal = np.isin(view.kind.take(rows), codes) & ~dormant
        places = np.flatnonzero(~dormant & ~crystal)
        if self._canvas_size < places.size:
            least = highest(energy[places], self._canvas_size)[-1] if self._canvas_size else np.inf
            places = places[energy[places] >= least]
        order = np.lexsort((places, -energy[places]))
        best: Rows = places[order[: self._canvas_size]]
        web = rows.size - best.size - int(crystal.sum()) - int(dormant.sum())
        counts = (best.size, web, int(crystal.sum()), int(dormant.sum()))
        canvas = zip(view.names(rows[best]), energy[best].tolist(), strict=True)
        layers = np.bincount(layers_of(store, view, rows, energy, micros), minlength=len(LAYERS)).tolist()
        named = dict(zip(TIERS, counts, strict=True)), dict(zip(LAYERS, layers, strict=True))
        return Tiers(now, *named, tuple(canvas), float(energy.mean()) if rows.size else 0.0)

    def tick(self, store: GraphStorePort, now: datetime) -> GraphDelta:
        """Return the delta that journals the memories that fell dormant since the last tick; it changes no value."""
        view, micros = store.view(), to_micros(now)
        rows = view.live_nodes()
        rows = rows[self._law.dormant(view, rows, micros)]
        ticks = (entry.at for entry in newest_first(store) if entry.reason.startswith(DORMANT))
        if rows.size and (last := next(ticks, None)) is not None:
            # A memory that was used since the last tick was not idle at that time, by its present columns.
            rows = rows[~self._law.dormant(view, rows, to_micros(last))]
        importance = view.importance.take(rows).tolist()
        fallen = zip(view.names(rows), importance, strict=True)
        changes = tuple(NodeChange(node_id, importance=value) for node_id, value in fallen)
        return GraphDelta(node_changes=changes, reason=f"{DORMANT}{len(changes)} memories fell dormant", at=now)
