"""The working canvas: the memories of a user and a session with the most energy and relevance.

A memory enters it when a recall returns it or when it is added. Its score is E · r · 2^(-(t - a) / h) with its energy E
and its relevance r at the time a, and the half-life h of relevance. The order of scores does not change with time, so a
canvas holds log2(E · r) + a / h. A canvas is a projection: a lost one is rebuilt from energies and last accesses.
"""

import heapq
import json
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from operator import itemgetter
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.config.groups import MetabolismSettings
from neurogated.core.contexts import remembered
from neurogated.core.energy import EnergyLaw
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.forking import ForkSafeLock
from neurogated.core.model import MemoryNode
from neurogated.core.outage import Outage
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import CanvasKey, CanvasStorage, SharedCanvases
from neurogated.core.scope import ScopeFilter
from neurogated.core.trace import RecalledMemory
from neurogated.core.view import GraphView, Rows
from neurogated.errors import StorageError
from neurogated.utils.hash_utils import compute_mdhash_id

# Canvases that a process holds; others are rebuilt when they are read.
_CANVAS_COUNT = 1000

_Answer = TypeVar("_Answer")
_Values = NDArray[np.float64]
_Recall = tuple[GraphView, Sequence[CanvasKey], Mapping[str, float], int]
_TOGETHER = 64  # so many recalls at most wait for a reader; in one step they cost a fraction of single ones

_log = logging.getLogger(__name__)

CANVAS_HALF_LIFE = timedelta(hours=1)
"""Time in which the relevance of a memory on a canvas halves: about a sitting."""
_PROBE = CanvasKey("probe", "probe")


class Canvas(list[RecalledMemory]):
    """The memories of a canvas, best first.

    Attributes:
        note: the fault of the server of the canvases; None if there is none.
    """

    note: str | None = None


class CanvasOwner(NamedTuple):
    """Whose canvas it is."""

    user_id: str | None = None
    session_id: str | None = None


class WorkingCanvas:
    """The canvases of a memory in this process or on a server; while that is away, a warning says so."""

    def __init__(self, settings: MetabolismSettings, shared: SharedCanvases | None = None) -> None:
        """Use the server `shared` if it is given."""
        self._size, self._law = settings.canvas_size, EnergyLaw(settings)
        self._half_life = CANVAS_HALF_LIFE / timedelta(microseconds=1)
        self._shared, self._local = shared, LocalCanvases(_CANVAS_COUNT)
        self.is_read = shared is not None
        """Whether somebody may read a canvas. The first one to read is shown all memories that were added before."""
        # By namespace: the number of a change, and nodes as they are after it.
        self._nodes: dict[str, tuple[int, dict[str, MemoryNode]]] = {}
        self._lock, self._waiting = ForkSafeLock(), list[_Recall]()
        self._outage = Outage("this process uses a canvas of its own meanwhile")

    def enter(
        self, view: GraphView, namespace: str, owner: CanvasOwner, relevance: Mapping[str, float], now: int
    ) -> None:
        """Put memories with relevance, 0–1 by id, on the canvases of an owner; `now` in microseconds since 1970 UTC."""
        recall = view, [_key(namespace, one) for one in {owner, owner._replace(session_id=None)}], relevance, now
        if self._shared is not None:
            self._put([recall])  # without the lock: threads do not wait for each other's answer of the server
            return
        with self._lock:
            if len(self._waiting) == _TOGETHER or (self._waiting and self._waiting[0][0] is not view):
                self._settle()
            self._waiting.append(recall)

    def _settle(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._put(waiting)

    def _put(self, recalls: Sequence[_Recall]) -> None:
        scores = defaultdict[CanvasKey, dict[str, float]](dict)
        of_each = ((view, keys, now, *one) for view, keys, relevance, now in recalls for one in relevance.items())
        if there := [one for one in of_each if one[0].find(one[3]) is not None]:
            (view, *_), (_, canvases, times, names, shares) = there[0], zip(*there, strict=True)
            held = self._held(view, view.rows(names), np.array(shares), np.array(times)).tolist()
            for each, name, score in zip(canvases, names, held, strict=True):
                for key in each:
                    scores[key][name] = max(score, scores[key].get(name, score))
        for key, own in scores.items():
            self._ask(lambda storage, key=key, own=own: storage.enter(key, own, self._size))  # type: ignore[misc]

    def read(
        self,
        store: GraphStorePort,
        namespace: str,
        owner: CanvasOwner,
        *,
        top_k: int | None,
        now: int,
        vector: NDArray[np.float32] | None = None,
        task: NDArray[np.float32] | None = None,
    ) -> Canvas:
        """Return the best memories of a canvas, all or the `top_k`; rebuild it if it is lost.

        With a `vector`, they rank by energy and by similarity to it. With the vector of a `task`, what is not about it
        loses up to half of its score.
        """
        self._settle()
        # What is added from now on enters the canvas, unless the view has it.
        self.is_read = True
        scope, key, view = ScopeFilter(owner.user_id, session_id=owner.session_id), _key(namespace, owner), store.view()
        held = self._ask(lambda storage: storage.read(key, self._size))
        if held is None:
            built = self._built(store.view(filters=Filter(scope=scope, except_kinds=NO_MEMORIES)))
            self._ask(lambda storage: storage.enter(key, built, self._size, complete=True))
            held = self._ask(lambda storage: storage.read(key, self._size)) or built
        rows = view.known_rows(held)
        if rows.size < len(held):
            # Another process has deleted the others, or they have expired.
            self.remove(namespace, held.keys() - {*view.names(rows)})
        rows = np.array([row for row in rows.tolist() if scope.admits(view.scope_of(row))], dtype=np.int64)
        rows = rows[~self._law.dormant(view, rows, now)]
        energy = self._law.energy(view, rows, now)
        log_scores = np.array([held[view.ids[row]] for row in rows.tolist()])
        parts = {"energy": energy}
        if vector is None:
            score = np.exp2(np.minimum(0.0, log_scores - now / self._half_life))
            if task is not None:
                score *= (1.0 + np.maximum(0.0, store.snapshot(view).similarities(task, rows))) / 2.0
            parts["relevance"] = np.minimum(1.0, score / np.maximum(energy, np.finfo(np.float64).tiny))
        else:
            parts["relevance"] = np.maximum(0.0, store.snapshot(view).similarities(vector, rows))
            score = energy * parts["relevance"]
        names = view.names(rows)
        best = sorted(range(len(names)), key=lambda place: (-score[place], -log_scores[place], names[place]))[:top_k]
        nodes = self._nodes_of(store, namespace, view.sequence, [names[place] for place in best])
        canvas = Canvas(
            RecalledMemory(
                nodes[names[place]], float(score[place]), {what: float(part[place]) for what, part in parts.items()}
            )
            for place in best
            if names[place] in nodes
        )
        canvas.note = self._outage.note
        return canvas

    def remove(self, namespace: str, ids: Iterable[str]) -> None:
        """Remove memories from all canvases of a graph."""
        self._settle()
        self._nodes.pop(namespace, None)
        graph, names = _key(namespace, CanvasOwner()).graph, list(ids)
        self._ask(lambda storage: storage.remove(graph, names))

    def clear(self) -> None:
        """Remove all canvases of all graphs."""
        self._nodes.clear()
        self._waiting = []
        self._local.clear()
        self._ask(lambda storage: storage.clear())

    @property
    def place(self) -> str | None:
        """The URL of the server without its password; None if there is no server."""
        return None if self._shared is None else self._shared.place

    def erase(self) -> None:
        """Remove all canvases of all graphs, and confirm it; raises StorageError."""
        self.clear()
        if self._shared is not None:
            self._shared.erase()

    def close(self) -> None:
        """Release connections."""
        if self._shared is not None:
            self._shared.close()

    def _nodes_of(
        self, store: GraphStorePort, namespace: str, sequence: int, names: list[str]
    ) -> Mapping[str, MemoryNode]:
        known = self._nodes.get(namespace)
        if known is None or known[0] != sequence:
            known = self._nodes[namespace] = (sequence, {})
        missing = [name for name in names if name not in known[1]]
        if missing:
            known[1].update((node.id, node) for node in store.get_nodes(missing, missing_ok=True))
        return known[1]

    def _built(self, view: GraphView) -> dict[str, float]:
        """Return the best memories that a view admits, as if each had been fully relevant at its last access."""
        rows = view.admitted_nodes()
        held = self._held(view, rows, np.ones(rows.size), view.last_accessed.take(rows))
        if rows.size > self._size:
            best = np.argpartition(-held, self._size)[: self._size]
            rows, held = rows[best], held[best]
        return dict(zip(view.names(rows), held.tolist(), strict=True))

    def _held(self, view: GraphView, rows: Rows, relevance: _Values, at: NDArray[np.int64]) -> _Values:
        share = self._law.energy(view, rows, at) * relevance
        held: _Values = np.log2(np.maximum(share, np.finfo(np.float64).tiny)) + at / self._half_life
        return held

    def _ask(self, call: Callable[[CanvasStorage], _Answer]) -> _Answer:
        """Call the server, or this process if there is no server or it is away."""
        if self._shared is not None and not self._outage.skips:
            try:
                if self._outage.note is not None:
                    # Meanwhile memories may have been deleted. A full server fails only when it is written to.
                    self._shared.clear()
                    self._shared.enter(_PROBE, {}, 1, complete=True)
                answer = call(self._shared)
            except StorageError as error:
                self._outage.failed(error)
            else:
                if self._outage.ended():
                    _log.info("the server of the canvas is back")
                return answer
        return call(self._local)


@remembered(_CANVAS_COUNT)
def _key(namespace: str, owner: CanvasOwner) -> CanvasKey:
    """Return a key without names: a server should not hold those of users."""
    return CanvasKey(compute_mdhash_id(namespace), compute_mdhash_id(json.dumps([namespace, *owner])))


_BY_SCORE = itemgetter(1, 0)
"""The order of the items of a canvas: by score, and then by id."""


class LocalCanvases:
    """Holds canvases in dictionaries; see `CanvasStorage`. Threads may share it."""

    def __init__(self, most: int) -> None:
        """Hold at most `most` canvases; the least recently used one is dropped first."""
        self._most = most
        self._lock = ForkSafeLock()
        self._canvases: OrderedDict[CanvasKey, dict[str, float]] = OrderedDict()
        self._complete: set[CanvasKey] = set()

    def enter(self, key: CanvasKey, scores: Mapping[str, float], size: int, *, complete: bool = False) -> None:
        with self._lock:
            held = self._canvases.setdefault(key, {})
            self._canvases.move_to_end(key)
            held |= {name: score for name, score in scores.items() if score > held.get(name, float("-inf"))}
            if complete:
                self._complete.add(key)
            # As on a server: a canvas that is not complete may hold one more.
            most = size + (key not in self._complete)
            for name, _ in sorted(held.items(), key=_BY_SCORE)[: len(held) - most] if len(held) > most else ():
                del held[name]
            while len(self._canvases) > self._most:
                dropped, _ = self._canvases.popitem(last=False)
                self._complete.discard(dropped)

    def read(self, key: CanvasKey, size: int) -> dict[str, float] | None:
        with self._lock:
            if key not in self._complete:
                return None
            self._canvases.move_to_end(key)
            return dict(heapq.nlargest(size, self._canvases[key].items(), key=_BY_SCORE))

    def remove(self, graph: str, ids: Iterable[str]) -> None:
        names = list(ids)
        with self._lock:
            for key, held in self._canvases.items():
                if key.graph == graph:
                    for name in names:
                        held.pop(name, None)

    def clear(self) -> None:
        """Remove all canvases."""
        with self._lock:
            self._canvases.clear()
            self._complete.clear()
