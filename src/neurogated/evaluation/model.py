"""A data set: collections of documents, and the questions about them; recall of rankings and summaries of latencies."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import Document, Passage
from neurogated.ingestion.speakers import known_role

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
_HIGH_QUANTILE = 0.95
_MEDIAN = 0.5
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
    scored = [(kind, ranked, gold) for ranked, gold, kind in zip(rankings, golds, kinds, strict=True) if gold]
    if not scored:
        return {}
    scores = [scores_of(ranked, gold, cutoffs) for _, ranked, gold in scored]
    figures = np.array([list(one.values()) for one in scores])
    by_kind: dict[str, list[int]] = {}
    for row, (kind, _, _) in enumerate(scored):
        by_kind.setdefault(kind, []).append(row)
    groups = {kind: by_kind[kind] for kind in sorted(by_kind)} if len(by_kind) > 1 else {}
    # The row "all" is the mean over all questions, even if a kind has the name "all".
    groups["all"] = list(range(len(scored)))
    return {
        kind: {
            "questions": len(rows),
            **dict(zip(scores[0], figures[rows].mean(axis=0).tolist(), strict=True)),
        }
        for kind, rows in groups.items()
    }


def latency_table(seconds: Sequence[Mapping[str, float]]) -> Table:
    """Return median and 95th percentile in milliseconds, a row per stage and one for all except the embedding."""
    if not seconds:
        return {}
    names = dict.fromkeys(stage for one in seconds for stage in one)
    stages = {stage: [_MILLISECONDS * one[stage] for one in seconds if stage in one] for stage in names}
    stages["all except embed"] = [_MILLISECONDS * (sum(one.values()) - one["embed"]) for one in seconds]
    return {
        stage: {"median ms": float(np.quantile(times, _MEDIAN)), "p95 ms": float(np.quantile(times, _HIGH_QUANTILE))}
        for stage, times in stages.items()
    }
