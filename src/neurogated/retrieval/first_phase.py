"""The first phase of a recall: keyword search, and activation from the working canvas and from keywords.

It needs no vector of the question, so it can run while the question is embedded. The second phase, vector search, then
measures the memories that it found.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.kernel import Kernel
from neurogated.core.ports import GraphReader
from neurogated.core.view import GraphView
from neurogated.retrieval.activation import SpreadingActivation
from neurogated.retrieval.dormancy import NOTHING, Scored

OnCanvas = Callable[[str | None, str | None, int], Mapping[str, float]]
"""Returns the scores of the memories on the canvas of a user and a session at a time, microseconds since 1970 UTC."""


class FirstPhase(NamedTuple):
    """The memories that a recall finds without the vector of its question."""

    keywords: Scored
    """Rows with their BM25, best first."""
    activated: Scored
    """Rows that light up, ascending, with their activation as a share of the highest, 0–1; empty without a canvas."""


@cache
def _threads_of(_process: int) -> ThreadPoolExecutor:
    """Return the threads that all retrievers share; a forked process has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="first-phase")


def started(search: Callable[[], list[FirstPhase]]) -> Future[list[FirstPhase]]:
    """Run the first phase in a thread."""
    return _threads_of(os.getpid()).submit(search)


def first_phase(
    reader: GraphReader,
    config: MemoryConfig,
    queries: Sequence[str],
    *,
    depth: int,
    canvas: Mapping[str, float],
) -> list[FirstPhase]:
    """For each query, find up to `depth` memories by keywords, and spread from the best of them and from `canvas`."""
    if not (config.retrieval.keyword_weight or canvas):
        return [FirstPhase(NOTHING, NOTHING)] * len(queries)
    found = [reader.keyword_search(query, depth) for query in queries]
    return [FirstPhase(each, _spread(reader.view, config, each, canvas) if canvas else NOTHING) for each in found]


def _spread(view: GraphView, config: MemoryConfig, found: Scored, canvas: Mapping[str, float]) -> Scored:
    """Spread over all types of edges alike.

    The start of a memory is its share of the best score on the canvas, or of the best keyword score if that is more.
    """
    rows, scores = (column[: config.TOP_K_ANCHORS] for column in found)
    best = float(scores.max(initial=0.0)) or 1.0
    starts = {view.ids[row]: score / best for row, score in zip(rows.tolist(), scores.tolist(), strict=True)}
    most = max(canvas.values()) or 1.0
    for row in view.known_rows(canvas).tolist():
        name = view.ids[row]
        starts[name] = max(starts.get(name, 0.0), canvas[name] / most)
    activated, values = SpreadingActivation(config).spread(view, starts, Kernel()).total
    shown = view.admitted(activated) & ~view.hides(activated)
    activated, values = activated[shown], values[shown]
    return activated, values / (float(values.max(initial=0.0)) or 1.0)
