"""A small sample of the memories that a recall may return, to which others are compared."""

from __future__ import annotations

import numpy as np

from neurogated.core.view import GraphView, Rows

_SIZE = 32
_SPARE = 8


def sampled(view: GraphView, rows: Rows | None = None) -> Rows:
    """Return up to 32 evenly spaced rows that are not hidden, of `rows` or of all that the recall may return."""
    rows = view.among if rows is None else rows
    places = _spread(view.node_count if rows is None else rows.size, _SPARE * _SIZE)
    some = places if rows is None else rows[places]
    some = some[view.alive.take(some).astype(np.bool_) & ~np.isin(some, view.hidden)]
    return some[_spread(some.size, _SIZE)]


def _spread(size: int, count: int) -> Rows:
    """Return up to `count` evenly spaced numbers below `size`."""
    return np.arange(size) if size <= count else np.linspace(0, size - 1, count).astype(np.int64)
