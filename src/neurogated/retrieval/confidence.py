"""The confidence of a recall: the probability that its memories say what the question asks for.

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

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neurogated.core.columns import highest
from neurogated.core.ports import Snapshot
from neurogated.core.scope import ANY_USER, UserChoice
from neurogated.core.trace import Recall
from neurogated.retrieval.similarity import Similarities
from neurogated.text.keywords import split_keywords

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
