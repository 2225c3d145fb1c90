"""A small sample of the memories that a recall may return, to which others are compared."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.derivation import is_derived
from neurogated.core.ports import GraphReader
from neurogated.core.view import GraphView, Rows

# Mean cosine of the texts of a memory up to which keywords have their weight, and from which they have twice as much.
# For MiniLM it is 0.0 to 0.3 in English and 0.5 to 0.7 in Chinese.
_DISTINCT, _ALIKE = 0.3, 0.5
_SIZE = 32
_SPARE = 8


class Samples:
    """Means over the samples of a view, which the questions of a recall share; each is computed on first use."""

    def __init__(self, reader: GraphReader, config: MemoryConfig) -> None:
        self.reader = reader
        self.view = reader.view
        self.config = config

    @cached_property
    def keyword_weight(self) -> float:
        """The weight of keywords: more, the less the embedder tells the texts apart that the recall may find."""
        weight = self.config.retrieval.keyword_weight
        if not (weight and self.config.retrieval.switches.keywords_for_like_vectors):
            return weight
        rows = _sampled(self.view)
        rows = rows[~is_derived(self.view, rows)]
        mean = self.reader.mean_vector(rows)
        # Each vector is like itself, which says nothing about the others.
        likeness = (rows.size * float(mean @ mean) - 1.0) / max(rows.size - 1, 1)
        # Rounded, since the order of the rows changes the last digits of the mean, which would decide ties.
        return round(weight * (1.0 + min(1.0, max(0.0, (likeness - _DISTINCT) / (_ALIKE - _DISTINCT)))), 3)

    @cached_property
    def mean_of_turns(self) -> NDArray[np.float32]:
        """The mean vector (dimension,) of some of the turns that the recall may return; empty without turns."""
        view = self.view
        # Claims, and texts that were made from others, have no position. So they do not move the sample.
        if view.among is None:
            turns = np.flatnonzero(view.position.all()[: view.node_count] >= 0)
        else:
            turns = view.among[view.position.take(view.among) >= 0]
        return self.reader.mean_vector(_sampled(view, turns))


def _sampled(view: GraphView, rows: Rows | None = None) -> Rows:
    """Return up to 32 evenly spaced rows that are not hidden, of `rows` or of all that the recall may return."""
    rows = view.among if rows is None else rows
    places = _spread(view.node_count if rows is None else rows.size, _SPARE * _SIZE)
    some = places if rows is None else rows[places]
    some = some[view.alive.take(some).astype(np.bool_) & ~view.hides(some)]
    return some[_spread(some.size, _SIZE)]


def _spread(size: int, count: int) -> Rows:
    """Return up to `count` evenly spaced numbers below `size`."""
    return np.arange(size) if size <= count else np.linspace(0, size - 1, count).astype(np.int64)
