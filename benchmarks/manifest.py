"""How often the communities of a question hold the memories that answer it, and what a recall finds inside of them.

    python -m benchmarks.manifest hotpotqa100 --folder DATA
    python -m benchmarks.manifest locomo_conv0-4 --folder DATA --format locomo

The first column has the questions all of whose gold passages are in the first three communities, the second the share
of the memories in these communities. The recalls are recall@5: of all memories, and of those communities alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.arguments import chosen, dataset_parser
from benchmarks.bootstrap import paired_bootstrap
from neurogated import NeuroGraphMemory
from neurogated.core.trace import Recall
from neurogated.evaluation.metrics import PERCENT, recall_at
from neurogated.evaluation.model import SOURCES_KEY, Collection
from neurogated.evaluation.runner import index
from neurogated.manifest.model import Community

_LIMIT = 3
_CUTOFF, _DEPTH = 5, 20

Way = Callable[[NeuroGraphMemory, str], tuple[Community, ...]]


def by_vectors(memory: NeuroGraphMemory, query: str) -> tuple[Community, ...]:
    """Return the communities whose memories are nearest to the question."""
    return memory.manifest.route(query, limit=_LIMIT)


def by_words(memory: NeuroGraphMemory, query: str) -> tuple[Community, ...]:
    """Return the communities whose keywords are in the question."""
    return memory.manifest.route(query, limit=_LIMIT, by="words")


def largest(memory: NeuroGraphMemory, _: str) -> tuple[Community, ...]:
    """Return the largest communities."""
    return tuple(sorted(memory.manifest.get().communities, key=lambda one: -one.size)[:_LIMIT])


class _Measured(NamedTuple):
    """One question."""

    inside: float
    opened: float
    routed: float
    whole: float
    milliseconds: float


def measured(memory: NeuroGraphMemory, part: Collection, way: Way) -> list[_Measured]:
    """Return a row for each question with gold passages."""
    rows, nodes = [], memory.manifest.get().nodes
    for question in part.questions:
        if not question.gold:
            continue
        begin = time.perf_counter()
        chosen = way(memory, question.text)
        seconds = time.perf_counter() - begin
        ids = [name for one in chosen for name in one.node_ids]
        sources = {name for node in memory.store.get_nodes(ids) for name in node.metadata.get(SOURCES_KEY, ())}
        whole = memory.recall(question.text, top_n=_DEPTH)
        routed = memory.recall(question.text, top_n=_DEPTH, only_ids=ids)
        found = (recall_at(_ranked(one), question.gold, _CUTOFF) for one in (routed, whole))
        rows.append(_Measured(question.gold <= sources, len(ids) / nodes, *found, 1000 * seconds))
    return rows


def _ranked(recall: Recall) -> list[object]:
    return list(dict.fromkeys(source for one in recall for source in one.metadata.get(SOURCES_KEY, ())))


def main() -> None:
    """Print the table of the data set of the command line."""
    dataset, config = chosen(dataset_parser(__doc__).parse_args())
    with NeuroGraphMemory(config) as memory:
        memories = index(dataset, memory)
        for one in memories:
            one.freeze(lasting=False)
        print("| communities | all gold inside | memories inside | routed recall | recall | median ms |")
        print("|---|---|---|---|---|---|")
        for way in (by_vectors, by_words, largest):
            rows = [
                row for one, part in zip(memories, dataset.collections, strict=True) for row in measured(one, part, way)
            ]
            inside, opened, routed, whole, milliseconds = np.array(rows).T
            shown = " | ".join(f"{PERCENT * column.mean():.1f}" for column in (inside, opened))
            interval = paired_bootstrap(PERCENT * routed, PERCENT * whole)
            recalls = f"{PERCENT * routed.mean():.1f} ({interval}) | {PERCENT * whole.mean():.1f}"
            print(f"| {way.__name__} | {shown} | {recalls} | {np.median(milliseconds):.1f} |", flush=True)


if __name__ == "__main__":
    main()
