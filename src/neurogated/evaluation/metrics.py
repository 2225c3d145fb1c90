"""Recall of rankings and summaries of times."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = [
    "COMPARED_CUTOFFS",
    "PERCENT",
    "RECALL_CUTOFFS",
    "latency_table",
    "recall_at",
    "recall_matrix",
    "recall_table",
]

RECALL_CUTOFFS = (1, 2, 5, 10, 20)
COMPARED_CUTOFFS = RECALL_CUTOFFS[1:]
"""Where experiments compare; many questions have two passages, which the first place alone cannot hold."""
PERCENT = 100
_MILLISECONDS = 1000
_HIGH_QUANTILE = 0.95
_MEDIAN = 0.5


def recall_at(ranked: Sequence[Hashable], gold: Collection[Hashable], k: int) -> float:
    """Return the fraction of `gold` among the first `k` of `ranked`, 0–1."""
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def recall_matrix(
    rankings: Sequence[Sequence[Hashable]],
    golds: Sequence[Collection[Hashable]],
    cutoffs: Sequence[int] = RECALL_CUTOFFS,
) -> NDArray[np.float64]:
    """Return (questions, cutoffs) recall in percent; every question must have gold passages."""
    recalls = [
        [PERCENT * recall_at(ranked, gold, k) for k in cutoffs] for ranked, gold in zip(rankings, golds, strict=True)
    ]
    return np.array(recalls, dtype=np.float64).reshape(len(recalls), len(cutoffs))


def recall_table(
    rankings: Sequence[Sequence[Hashable]],
    golds: Sequence[Collection[Hashable]],
    kinds: Sequence[str],
    cutoffs: Sequence[int] = RECALL_CUTOFFS,
) -> pd.DataFrame:
    """Return mean recall in percent, a row a kind of question and one for all, a column a cutoff.

    Questions without gold passages do not count.
    """
    rows = [
        {"kind": kind, **{f"R@{k}": PERCENT * recall_at(ranked, gold, k) for k in cutoffs}}
        for ranked, gold, kind in zip(rankings, golds, kinds, strict=True)
        if gold
    ]
    if not rows:
        return pd.DataFrame(columns=["questions", *(f"R@{k}" for k in cutoffs)])
    frame = pd.DataFrame(rows)
    by_kind = frame.groupby("kind").mean()
    by_kind.insert(0, "questions", frame.groupby("kind").size())
    if len(by_kind) == 1:
        return by_kind.rename(index={by_kind.index[0]: "all"})
    by_kind.loc["all"] = [len(frame), *frame.drop(columns="kind").mean()]
    return by_kind.astype({"questions": int})


def latency_table(seconds: Sequence[Mapping[str, float]]) -> pd.DataFrame:
    """Return median and 95th percentile in milliseconds, a row a stage and one for all but the embedding."""
    frame = pd.DataFrame(seconds) * _MILLISECONDS
    if frame.empty:
        return pd.DataFrame(columns=["median ms", "p95 ms"])
    frame["all but embed"] = frame.drop(columns="embed").sum(axis=1)
    return pd.DataFrame({"median ms": frame.quantile(_MEDIAN), "p95 ms": frame.quantile(_HIGH_QUANTILE)})
