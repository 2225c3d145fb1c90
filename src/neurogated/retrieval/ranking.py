"""Ranks nodes, makes them the memories of a recall, with paths and terms of their scores, and says how sure it is.

Activation starts from the memories that are most similar to the question. If one of them has a clear lead, it is
probably right, and its neighbours are worth finding. If several are about as similar, activation probably starts from
wrong ones. So trust in the graph grows with the lead of the best match, from `trust_floor` to 1:

    lead  = (best - second) / best
    trust = trust_floor + (1 - trust_floor) * min(1, lead / FULL_TRUST_LEAD)

The best matches keep their ranks: the best one, and those whose score is lower by at
most `BEST_MARGIN` times the best score. Activation lifts no other memory above them.

The confidence of a recall is the probability that its memories say what the question asks for.

A search always finds the nearest memories. Whether they answer, four measures tell, which cost no model call:

    cosine      of the best memory, -1–1
    margin      of that cosine over the mean of the next five
    lead        of the best similarity over the second
    coverage    share of the question's keywords in one memory, weighted by how few candidates have them, 0–1

    confidence = 1 / (1 + exp(-(bias + weights · measures)))

`benchmarks/confidence.py` fitted bias and weights by logistic regression to questions whose answers are or are not in a
memory, as many of either; `docs/measurements/confidence.md` has the curve. Cosines of other embedders have another
scale, so with them lead and coverage alone count.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import distinct, highest
from neurogated.core.model import EdgeKey
from neurogated.core.ports import Snapshot
from neurogated.core.read_only import ReadOnlyDict
from neurogated.core.rendering import render
from neurogated.core.same_as import others_of
from neurogated.core.scope import ANY_USER, UserChoice
from neurogated.core.trace import PathStep, Recall, RecalledMemory, explained
from neurogated.core.view import GraphView, Rows, best_places
from neurogated.retrieval.activation import Activation
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.similarity import PARTS, Similarities
from neurogated.text.keywords import split_keywords

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
    scales: Values
    """(n,): factors from the spread activation of each memory to its part `activation`."""
    trust: float = 1.0
    """The share of the spread activation that counts."""
    scale: float = 1.0
    """Factor of spread activation: `trust` divided by the number of subjects that the question names."""
    activated: Mapping[str, float] = ReadOnlyDict()
    """The activation of the strongest nodes that are not ranked, by id."""
    following: Rows = _NO_ROWS
    """The nodes that a longer recall would have next."""


@dataclass(eq=False)
class RankedNodes:
    """Anchors, activation and ranking of a question; they explain the ranks of the memories, see `Explanation`."""

    anchors: tuple[tuple[str, float], ...]
    activation: Activation
    ranking: Ranking
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()
    """Remarks of `Recall.notes`."""
    confidence: float = 0.0
    """See `Recall.confidence`."""

    @property
    def view(self) -> GraphView:
        """The graph."""
        return self.activation.view

    @cached_property
    def parts(self) -> list[dict[str, float]]:
        """The parts of each score."""
        likeness, parts = self.ranking.likeness, self.ranking.parts
        return _by_row({"similarity": likeness.similarity, **parts, **{n: getattr(likeness, n) for n in PARTS}})

    @cached_property
    def contributions(self) -> list[dict[str, float]]:
        """The terms of each score."""
        return _by_row(self.ranking.contributions)

    @cached_property
    def paths(self) -> list[tuple[PathStep, ...]]:
        """The strongest path to each memory."""
        return self.activation.paths(self.ranking.likeness.rows, self.ranking.scales)

    def edges_to(self, places: Sequence[int]) -> set[EdgeKey]:
        """Return the edges on the paths to the memories at some places."""
        return self.activation.edges_to(self.ranking.likeness.rows[list(places)])

    @cached_property
    def flows(self) -> list[tuple[PathStep, ...]]:
        """The flows into each memory."""
        return self.activation.flows_into(self.ranking.likeness.rows, self.ranking.scales)


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
        memories.append(tuple(explained(some, kept, [same[place] for place in places], one, places)))
    return memories


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


EMBEDDER = "all-MiniLM-L6-v2"
"""The embedder whose cosines the weights were fitted to."""
_NEXT = 5
NOTHING_FOUND = "nothing found; the memories of a user are found only with user_id and exactly that name"


class Evidence(NamedTuple):
    """The measures of a recall's confidence. A measure that does not apply has its mean over the fitted questions."""

    cosine: float
    margin: float = 0.16
    """Without a second memory it does not apply."""
    lead: float = 0.16
    """Without a second memory it does not apply."""
    coverage: float = 0.37
    """Without a keyword in the question it does not apply."""


FITTED = -3.56, Evidence(4.56, 1.65, 1.41, 2.36)
"""Bias and weights of a logistic regression for cosines of `EMBEDDER`."""
WITHOUT_COSINES = -1.59, Evidence(0.0, 0.0, 2.79, 3.19)
"""For other embedders."""


def evidence_of(snapshot: Snapshot, query: str, known: Similarities) -> Evidence | None:
    """Return the measures of the memories that a recall may return; None without memories."""
    if not (size := known.rows.size):
        return None
    keywords, cosines = list(dict.fromkeys(split_keywords(query))), highest(known.cosine, 1 + _NEXT)
    measured = dict[str, float]()
    if keywords:
        held = snapshot.has_tags(keywords, known.rows)
        count = np.add.reduce(held, axis=1)
        rarity = np.log1p((size - count + 0.5) / (count + 0.5))
        # The largest share of the keywords that one memory has.
        measured["coverage"] = float(np.maximum.reduce(rarity @ held) / np.add.reduce(rarity))
    if size > 1:
        first, second = highest(known.similarity, 2)
        measured["margin"] = cosines[0] - sum(cosines[:0:-1]) / (len(cosines) - 1)
        measured["lead"] = first - second
    return Evidence(cosines[0], **measured)


def confidence(evidence: Evidence | None, embedder: str) -> float:
    """Return the confidence by these measures, 0–1; 0 without memories.

    Args:
        evidence: the measures.
        embedder: name of the embedder that made the vectors.
    """
    if evidence is None:
        return 0.0
    bias, weights = FITTED if embedder == EMBEDDER else WITHOUT_COSINES
    return 1.0 / (1.0 + math.exp(-bias - sum(map(float.__mul__, weights, evidence))))


def withheld(recall: Recall, least: float, user_id: UserChoice = None) -> Recall:
    """Return a recall without memories if its confidence is lower than `least`, with a note if it has no anchors."""
    if not recall.anchors and user_id is not ANY_USER:
        return replace(recall, notes=(*recall.notes, NOTHING_FOUND))
    if recall.confidence >= least or not recall.memories:
        return recall
    note = f"nothing found: the confidence is {recall.confidence:.2f}, but must be at least {least:g}"
    kept = ("query", "kernel", "anchors", "activation", "seconds", "confidence", "trust", "zone")
    return Recall(memories=(), notes=(*recall.notes, note), **{name: getattr(recall, name) for name in kept})
