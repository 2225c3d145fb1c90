"""Questions with their evidence, what a data set is, and plain searches to compare with."""

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from neurogated.core.filters import Filter
from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import Document, Passage, known_role
from neurogated.memory import NeuroGraphMemory

BASELINES = ("dense", "bm25", "hybrid")
"""The cosine of the vectors; BM25 over the keywords of the memory; half of each, both scaled to 0–1."""
_ROUNDS = 10_000
_LEVEL = 0.95
_DRAWS_AT_ONCE = 1_000_000


def searched(
    memory: NeuroGraphMemory, query: str, baseline: str, filters: Filter | None = None, most: int | None = None
) -> list[str]:
    """Return the ids of the nodes that a filter admits, best first by one of `BASELINES`, at most so many.

    The vectors and keywords are those of the memory, so that only the ranking differs.
    """
    seen = memory.store.snapshot(filters=filters)
    rows = seen.view.live_nodes()
    rows = rows[seen.view.admitted(rows)]
    if not rows.size:
        return []
    found = []
    if baseline != "bm25":
        found.append(seen.similarities(memory.session.parts.embedder.embed_queries([query])[0], rows))
    if baseline != "dense":
        found.append(seen.keyword_scores(query, rows))
    score = sum((one - one.min()) / (float(np.ptp(one)) or 1) for one in found)
    return seen.view.names(rows[np.argsort(-score, kind="stable")[:most]])


class Interval(NamedTuple):
    """A mean difference and its 95 % interval, in the units of the compared figures."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        text = f"{self.mean:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"
        return f"**{text}**" if self.low > 0 or self.high < 0 else text


def paired_bootstrap(a: ArrayLike, b: ArrayLike) -> Interval:
    """Return the mean of `a` - `b`, two lists of one figure per question, and its percentile interval.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    generator, count = np.random.default_rng(0), differences.size
    step = max(1, _DRAWS_AT_ONCE // count)
    sizes: Sequence[int] = [min(step, _ROUNDS - begin) for begin in range(0, _ROUNDS, step)]
    means = np.concatenate([differences[generator.integers(count, size=(size, count))].mean(axis=1) for size in sizes])
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(differences.mean()), float(low), float(high))


SOURCES_KEY = "sources"
"""Metadata key under which a node lists the data set's names of its passages."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it."""

    id: str | int
    text: str
    gold: frozenset[Hashable]
    """The data set's names of the passages: corpus idx, or dia_id."""
    kind: str
    """The data set's name for this kind of question."""
    answers: tuple[str, ...] = ()
    """All right answers, aliases too; empty if the data set has no answer."""
    asked_at: datetime | None = None
    """When it is asked; None for now."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the questions about them; questions search only their own collection."""

    namespace: str | None
    """Its namespace in the memory; None for the memory's own namespace."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set; each collection has its own namespace."""

    name: str
    collections: tuple[Collection, ...]
    notes: tuple[str, ...] = ()
    """Notes about the files for a reader of the figures, a sentence each."""


def passage_of(
    text: str, metadata: Mapping[str, Any], where: str, *, speaker: str | None = None, role: str | None = None
) -> Passage:
    """Return a passage; raise DatasetError that names the place, `where`, of a text that cannot be stored."""
    try:
        return Passage(text, metadata, speaker=speaker, role=None if role is None else known_role(role))
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from None


Table = dict[str, dict[str, float]]
"""Numbers by row and column."""

RECALL_CUTOFFS = (1, 2, 5, 10, 20)
PERCENT = 100
_MILLISECONDS = 1000
_QUANTILES = {"median ms": 0.5, "p95 ms": 0.95}
_DEPTH_OF_NDCG = 10


def recall_at(ranked: Sequence[Hashable], gold: AbstractSet[Hashable] | Sequence[Hashable], k: int) -> float:
    """Return the fraction of `gold` among the first `k` of `ranked`, 0–1."""
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def scores_of(
    ranked: Sequence[Hashable], gold: AbstractSet[Hashable] | Sequence[Hashable], cutoffs: Sequence[int]
) -> dict[str, float]:
    """Return recall at each cutoff, the reciprocal rank of the first gold passage, and nDCG@10, in percent.

    Source of nDCG with gains of 0 and 1: Järvelin and Kekäläinen 2002.
    """
    found = np.array([one in set(gold) for one in ranked], dtype=bool)
    gains = 1 / np.log2(np.arange(2, _DEPTH_OF_NDCG + 2))
    ideal, first = gains[: len(gold)].sum(), found.nonzero()[0][:1]
    dcg = gains[: found.size][found[:_DEPTH_OF_NDCG]].sum()
    return {
        **{f"R@{k}": PERCENT * recall_at(ranked, gold, k) for k in cutoffs},
        "MRR": float(PERCENT / (1 + first[0])) if first.size else 0.0,
        f"nDCG@{_DEPTH_OF_NDCG}": float(PERCENT * dcg / ideal),
    }


def recall_table(
    rankings: Sequence[Sequence[Hashable]],
    golds: Sequence[AbstractSet[Hashable] | Sequence[Hashable]],
    kinds: Sequence[str],
    cutoffs: Sequence[int] = RECALL_CUTOFFS,
) -> Table:
    """Return means of `scores_of`: a row per kind of question and one for all.

    Questions without gold passages do not count. If no question has any, the table is empty.
    """
    asked = zip(rankings, golds, kinds, strict=True)
    scored = [(kind, scores_of(ranked, gold, cutoffs)) for ranked, gold, kind in asked if gold]
    by_kind: dict[str, list[dict[str, float]]] = {}
    for kind, scores in scored:
        by_kind.setdefault(kind, []).append(scores)
    groups = dict(sorted(by_kind.items())) if len(by_kind) > 1 else {}
    # The row "all" is the mean over all questions, even if a kind has the name "all".
    groups |= {"all": [scores for _, scores in scored]} if scored else {}
    return {kind: {"questions": len(rows), **means(rows)} for kind, rows in groups.items()}


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure over rows that have the same ones."""
    return {name: fmean(row[name] for row in rows) for name in rows[0]}


def latency_table(seconds: Sequence[Mapping[str, float]]) -> Table:
    """Return median and 95th percentile in milliseconds, a row per stage and one for all except the embedding."""
    if not seconds:
        return {}
    names = dict.fromkeys(stage for one in seconds for stage in one)
    stages = {stage: [_MILLISECONDS * one[stage] for one in seconds if stage in one] for stage in names}
    stages["all except embed"] = [_MILLISECONDS * (sum(one.values()) - one["embed"]) for one in seconds]
    return {
        stage: {name: float(np.quantile(times, share)) for name, share in _QUANTILES.items()}
        for stage, times in stages.items()
    }
