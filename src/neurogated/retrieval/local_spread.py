"""The first phase of a recall: activation from the working canvas and from keywords.

It needs no vector of the question. The second phase, vector search, measures the memories that it lights up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.kernel import Kernel
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView, Rows
from neurogated.retrieval.spreading_activation import SpreadingActivation

__all__ = ["OnCanvas", "local_spread"]

OnCanvas = Callable[[str | None, str | None, int], Mapping[str, float]]
"""Returns the scores of the memories on the canvas of a user and a session at a time, microseconds since 1970 UTC."""


def local_spread(
    store: GraphStorePort, view: GraphView, config: MemoryConfig, query: str, canvas: Mapping[str, float]
) -> tuple[Rows, NDArray[np.float64]]:
    """Return the rows that light up, ascending, with their activation as a share of the highest, 0–1.

    The start of a memory is its share of the best score on the canvas, or of the best keyword score if that is more.
    """
    rows, scores = store.keyword_rows(query, config.TOP_K_ANCHORS, view)
    best = float(scores.max(initial=0.0)) or 1.0
    starts = {view.ids[row]: score / best for row, score in zip(rows.tolist(), scores.tolist(), strict=True)}
    most = max(canvas.values(), default=0.0) or 1.0
    for row in view.known_rows(canvas).tolist():
        name = view.ids[row]
        starts[name] = max(starts.get(name, 0.0), canvas[name] / most)
    lit, values = SpreadingActivation(config).spread(view, starts, Kernel()).total
    shown = view.admitted(lit) & ~np.isin(lit, view.hidden)
    lit, values = lit[shown], values[shown]
    return lit, values / (float(values.max(initial=0.0)) or 1.0)
