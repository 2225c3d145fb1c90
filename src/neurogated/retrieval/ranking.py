"""Ranks memories, and turns ranked nodes into the memories of a recall, with paths and the terms of their scores.

Activation starts from the memories that are most similar to the question. If one of them has a clear lead, it is
probably right, and its neighbours are worth finding. If several are about as similar, activation probably starts from
wrong ones. So trust in the graph grows with the lead of the best match, from `trust_floor` to 1:

    lead  = (best - second) / best
    trust = trust_floor + (1 - trust_floor) * min(1, lead / FULL_TRUST_LEAD)

The best matches keep their ranks: the best one, and those whose score is lower by at
most `BEST_MARGIN` times the best score. Activation lifts no other memory above them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import distinct
from neurogated.core.model import EdgeKey
from neurogated.core.ports import Snapshot
from neurogated.core.read_only import ReadOnlyDict
from neurogated.core.rendering import render
from neurogated.core.same_as import others_of
from neurogated.core.trace import PathStep, RecalledMemory, explained
from neurogated.core.view import GraphView, Rows, best_places
from neurogated.retrieval.activation import Activation
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.similarity import PARTS, Similarities

Values = NDArray[np.float64]
_NO_ROWS = np.empty(0, dtype=np.int64)

FULL_TRUST_LEAD = 0.2
"""Lead of the best match over the second, as a share of its score, from which all activation counts."""
BEST_MARGIN = 0.04
"""Memories this close to the best match, as a share of its score, keep their rank."""
RERANKED = 30
"""So many of the best nodes a reranker reads."""


def trust_in_graph(best: Sequence[float], config: MemoryConfig, formula: Formula = FORMULA) -> float:
    """Return the share of the spread activation that counts, 0–1.

    Args:
        best: scores of the best match and of the second, if there is one, without activation, recency and energy.
        config: its `SIMILARITY_WEIGHT` counts.
        formula: its `trust_floor` counts.
    """
    if not config.SIMILARITY_WEIGHT:
        # Without similarity no match is the best.
        return 1.0
    first, second = (*best, 0.0)[:2]
    lead = (first - second) / first if first > 0 else 0.0
    share = min(1.0, lead / FULL_TRUST_LEAD)
    return formula.trust_floor + (1.0 - formula.trust_floor) * share


def lifted_scores(
    base: Values, lift: Values, config: MemoryConfig, formula: Formula = FORMULA
) -> tuple[Values, Values]:
    """Return the sort keys of memories and their scores.

    Args:
        base: scores without activation (n,), at least one.
        lift: activation times its weight (n,).
        config: its `SIMILARITY_WEIGHT` counts.
        formula: its `keep_best_first` counts.

    Returns:
        Two columns (n,). Both are the sum of `base` and `lift`, unless the best matches keep their ranks. Then these
        rank before all others by their scores without activation. If a sum is higher than the lowest of them, the sums
        above the best score without activation of the others are scaled to end there, so that they stay apart.
    """
    lifted = base + lift
    if not (formula.keep_best_first and config.SIMILARITY_WEIGHT):
        return lifted, lifted
    best = np.maximum.reduce(base)
    first = base >= best - BEST_MARGIN * abs(best)
    least = np.minimum.reduce(base[first])
    # The best matches rank above all others, in the order of their scores.
    order = np.where(first, base - least + max(0.0, float(np.maximum.reduce(lifted))) + 1.0, lifted)
    if not np.logical_and.reduce(first):
        begin, end = np.maximum.reduce(base[~first]), np.maximum.reduce(lifted[~first])
        if end > least:
            lifted = np.where(lifted > begin, begin + (lifted - begin) * ((least - begin) / (end - begin)), lifted)
    return order, np.where(first, base, lifted)


class Reranker(Protocol):
    """A model that reads questions together with texts."""

    def relevance(self, pairs: Sequence[tuple[str, str]]) -> Values:
        """Return how well the text of each pair answers its question (n,), 0–1. Raises LLMError."""


def relevance_of(reranker: Reranker, snapshot: Snapshot, question: str, rows: Rows) -> Values:
    """Return how well the nodes at some rows answer a question (n,), 0–1."""
    texts = {node.id: render(node) for node in snapshot.nodes(np.sort(rows))}
    return reranker.relevance([(question, texts.get(snapshot.view.ids[row], "")) for row in rows.tolist()])


def reranked(
    best: Sequence[int], rows: Rows, score: Values, relevance: Callable[[Rows], Values]
) -> tuple[list[int], Values, Values]:
    """Put the first `RERANKED` of the nodes at the `best` places into the order of their `relevance`, by rows.

    Return the places, the relevance of each node (n,), and what its score (n,) gains, since each gets that of its new
    rank. Both columns are 0 for the nodes that the model does not read.
    """
    first, judged, gains = best[:RERANKED], np.zeros(rows.size), np.zeros(rows.size)
    judged[first] = relevance(rows[first])
    order = sorted(first, key=judged.__getitem__, reverse=True)
    gains[order] = score[first] - score[order]
    return [*order, *best[RERANKED:]], judged, gains


class Ranking(NamedTuple):
    """The ranked nodes of a recall in columns, before their texts are fetched."""

    likeness: Similarities
    score: Values
    parts: Mapping[str, Values]
    """Columns of `RecalledMemory.parts`, without the similarity and its parts."""
    contributions: Mapping[str, Values]
    """Columns of `RecalledMemory.contributions`."""
    trust: float = 1.0
    """The share of the spread activation that counts."""
    scale: float = 1.0
    """Factor of spread activation: `trust` divided by the number of subjects that the question names."""
    scales: Values | None = None
    """(n,): factors from the spread activation of each memory to its part `activation`; None: 1."""
    activated: Mapping[str, float] = ReadOnlyDict()
    """The activation of the strongest nodes that are not ranked, by id."""
    following: Rows = _NO_ROWS
    """The nodes that a longer recall would have next."""


class RankedNodes(NamedTuple):
    """Anchors, activation and ranking of a question, before texts are fetched."""

    anchors: tuple[tuple[str, float], ...]
    activation: Activation
    ranking: Ranking
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()
    """Remarks of `Recall.notes`."""
    confidence: float = 0.0
    """See `Recall.confidence`."""


def memories_of(snapshot: Snapshot, found: Sequence[RankedNodes], least: float) -> list[tuple[RecalledMemory, ...]]:
    """Return the memories of each question with a score of `least` or more; one call fetches the texts of all."""
    ids = [snapshot.view.names(one.ranking.likeness.rows) for one in found]
    rows = np.concatenate([one.ranking.likeness.rows for one in found])
    nodes = {node.id: node for node in snapshot.nodes(rows if len(found) == 1 else distinct(rows))}
    memories = list[tuple[RecalledMemory, ...]]()
    for one, names in zip(found, ids, strict=True):
        same, scores = others_of(snapshot.view, one.ranking.likeness.rows), one.ranking.score.tolist()
        places = [place for place, name in enumerate(names) if name in nodes and scores[place] >= least]
        some, kept = [nodes[names[place]] for place in places], [scores[place] for place in places]
        memories.append(tuple(explained(some, kept, [same[place] for place in places], Explained(one), places)))
    return memories


class Explained:
    """Explains the ranks of the memories that a question found; see `core.trace.Explanation`."""

    def __init__(self, found: RankedNodes) -> None:
        self._ranking, self._activation = found.ranking, found.activation
        self.view = found.activation.view
        rows = found.ranking.likeness.rows
        self._scales = np.ones(rows.size) if found.ranking.scales is None else found.ranking.scales

    @cached_property
    def parts(self) -> list[dict[str, float]]:
        """The parts of each score."""
        likeness, parts = self._ranking.likeness, self._ranking.parts
        return _by_row({"similarity": likeness.similarity, **parts, **{n: getattr(likeness, n) for n in PARTS}})

    @cached_property
    def contributions(self) -> list[dict[str, float]]:
        """The terms of each score."""
        return _by_row(self._ranking.contributions)

    @cached_property
    def paths(self) -> list[tuple[PathStep, ...]]:
        """The strongest path to each memory."""
        return self._activation.paths(self._ranking.likeness.rows, self._scales)

    def edges_to(self, places: Sequence[int]) -> set[EdgeKey]:
        """Return the edges on the paths to the memories at some places."""
        return self._activation.edges_to(self._ranking.likeness.rows[list(places)])

    @cached_property
    def flows(self) -> list[tuple[PathStep, ...]]:
        """The flows into each memory."""
        return self._activation.flows_into(self._ranking.likeness.rows, self._scales)


def relays_of(found: RankedNodes, memories: Sequence[RecalledMemory]) -> dict[str, tuple[PathStep, ...]]:
    """Return the nodes on the way from the anchors to `memories`, with the flows into them before the last hop."""
    ends = {*dict(found.anchors), *(memory.id for memory in memories)}
    sources = dict.fromkeys(step.source_id for memory in memories for step in memory.flows)
    passed = [name for name in sources if name not in ends]
    if not passed:
        return {}
    activation = found.activation
    scales = np.full(len(passed), found.ranking.scale)
    into = activation.flows_into(activation.view.rows(passed), scales, hops=-1)
    return dict(zip(passed, into, strict=True))


def activated_of(view: GraphView, rows: Rows, arrived: Values, ranked: Rows, count: int) -> dict[str, float]:
    """Return the activation of up to `count` active nodes that are not ranked, strongest first."""
    shown = set(ranked.tolist())
    # Of this many, some are left if all ranked nodes are among them.
    best = best_places(view, rows, arrived, count + ranked.size)
    found = zip(rows[best].tolist(), arrived[best].tolist(), strict=True)
    others = {view.ids[row]: value for row, value in found if value > 0.0 and row not in shown}
    return dict(islice(others.items(), count))


def recency_of(view: GraphView, rows: Rows, present: int, config: MemoryConfig) -> Values:
    """Return 1 for an access now, halved for every `retrieval.recency_half_life_days` since the last access."""
    if not config.RECENCY_WEIGHT:
        return np.zeros(rows.size)
    half_life = timedelta(days=config.retrieval.recency_half_life_days) / timedelta(microseconds=1)
    age = np.maximum(0, present - view.last_accessed.take(rows))
    return np.asarray(np.exp2(-age / max(half_life, 1)), dtype=np.float64)


def _by_row(columns: Mapping[str, Values]) -> list[dict[str, float]]:
    """Return one mapping for each row of the columns."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
