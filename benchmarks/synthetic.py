"""Stores filled with the synthetic memories that all measurements of speed share."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.core.clock import utc_now

__all__ = ["TYPES", "Synthetic", "median_ms"]

TYPES = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE, EdgeType.ASSOC)
BATCH = 2000


class Synthetic:
    """The arrays of one `.npz`: `edges`, `weights`, `types`, `vectors` and `words`."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as arrays:
            # Edges come once their later end is there.
            order = np.argsort(arrays["edges"].max(axis=1), kind="stable")
            self.edges: NDArray[np.int32] = arrays["edges"][order]
            self.weights: NDArray[np.float32] = arrays["weights"][order]
            self.types: NDArray[np.int8] = arrays["types"][order]
            self.vectors: NDArray[np.float32] = arrays["vectors"]
            self.words: NDArray[np.int32] = arrays["words"]

    def __len__(self) -> int:
        return len(self.vectors)

    def text(self, number: int) -> str:
        """Return the text of a node."""
        return " ".join(f"w{word}" for word in self.words[number].tolist())

    def fill(self, store: GraphStore) -> None:
        """Put everything into `store`."""
        for delta in self._deltas():
            store.apply(delta)

    def _deltas(self) -> Iterator[GraphDelta]:
        now, last = utc_now(), self.edges.max(axis=1)
        for begin in range(0, len(self), BATCH):
            numbers = range(begin, min(begin + BATCH, len(self)))
            span = slice(*np.searchsorted(last, (begin, begin + BATCH)).tolist())
            columns = (self.edges[span].tolist(), self.types[span].tolist(), self.weights[span].tolist())
            yield GraphDelta(
                nodes=tuple(
                    MemoryNode(f"n{n}", self.text(n), embedding=self.vectors[n], created_at=now, last_accessed=now)
                    for n in numbers
                ),
                edges=tuple(
                    MemoryEdge(f"n{source}", f"n{target}", TYPES[kind], weight, created_at=now)
                    for (source, target), kind, weight in zip(*columns, strict=True)
                ),
                reason="build",
                at=now,
            )


def median_ms(actions: list[Callable[[], object]]) -> float:
    """Return the median of the milliseconds that each of `actions` takes."""
    seconds = []
    for action in actions:
        begin = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begin)
    return 1000 * statistics.median(seconds)
