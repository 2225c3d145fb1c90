"""`LocalCanvases`: the working canvases that one process holds."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from operator import itemgetter

from neurogated.core.forking import ForkSafeLock
from neurogated.core.projections import CanvasKey

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
            for name, score in scores.items():
                if score > held.get(name, float("-inf")):
                    held[name] = score
            if complete:
                self._complete.add(key)
            # As on a server: a canvas that is not complete may hold one more.
            most = size + (key not in self._complete)
            # Few leave, so finding these is quicker than finding those that stay.
            for name, _ in heapq.nsmallest(len(held) - most, held.items(), key=_BY_SCORE):
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

    def close(self) -> None:
        """Do nothing: dictionaries hold no resources."""
