"""Chooses the memories of a context: the best by relevance and novelty, one after another, within a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Values = NDArray[np.float64]
_Places = NDArray[np.int64]


class Candidates(NamedTuple):
    """Memories and facts in parallel arrays."""

    relevance: _Values
    """(n,) scores divided by the best, 0–1."""
    sizes: _Places
    """(n,) tokens of each line."""
    likeness: _Values
    """(n, n) cosines of the vectors, 0–1."""
    words: Sequence[frozenset[str]]
    """The n sets of words that carry meaning."""
    opposed: Mapping[int, Sequence[int]]
    """The memories that contradict a memory, by places."""
    replaced: Mapping[int, Sequence[int]]
    """The places of the facts that are left out beside a memory, because it says them itself."""


class Picked(NamedTuple):
    """A chosen memory or fact, and why it was chosen."""

    place: int
    """From 0."""
    value: float
    repetition: float
    """Cosine with the most similar memory chosen before."""
    repeats: int | None
    """Place of that memory; None for the first."""
    tokens: int


REPETITION_COST = 0.2
"""Cost of the cosine of a memory with those that are already in the context; more costs evidence."""
NOVELTY_GAIN = 0.5
"""Gain of a memory's score, as a share, if each of its tokens is a new word."""


def pack(
    candidates: Candidates, budget: int, repetition_cost: float, novelty_gain: float, first: int | None = None
) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    New words for each token raise the relevance, as in budgeted coverage (Lin and Bilmes, 2010). A memory that
    contradicts a chosen one has at least its value. A memory that does not fit is skipped; none is cut.

    Args:
        candidates: the memories.
        budget: most tokens of all lines.
        repetition_cost: cost of the cosine with the most similar memory chosen before.
        novelty_gain: gain of relevance for one new word in each token, as a share.
        first: the place of the memory to choose first, which fits alone, whatever its size seems to be.
    """
    sizes = candidates.sizes
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free = np.ones(sizes.size, dtype=np.bool_)
    least = np.full(sizes.size, -np.inf)
    fresh = np.array([len(words) for words in candidates.words])
    having = defaultdict[str, list[int]](list)
    for place, words in enumerate(candidates.words):
        for word in words:
            having[word].append(place)
    picked: dict[int, Picked] = {}
    while sizes.size:
        able = free & (sizes <= budget)
        if first is not None and not picked:
            able[first] = True
        if not able.any():
            break
        gain = 1.0 + novelty_gain * fresh / np.maximum(1, sizes)
        value = np.where(able, np.maximum(least, candidates.relevance * gain - repetition_cost * repetition), -np.inf)
        best = first if first is not None and not picked else int(value.argmax())
        repeated = int(repeats[best]) if repeats[best] >= 0 else None
        picked[best] = Picked(best, float(value[best]), float(repetition[best]), repeated, int(sizes[best]))
        budget, free[best] = budget - int(sizes[best]), False
        for fact in candidates.replaced.get(best, ()):
            free[fact] = False
            if (left := picked.pop(fact, None)) is not None:
                budget += left.tokens
        closer = candidates.likeness[best] > repetition
        repetition[closer], repeats[closer] = candidates.likeness[best][closer], best
        for word in candidates.words[best]:
            fresh[having.pop(word, [])] -= 1
        if least[best] == -np.inf:
            opposed = list(candidates.opposed.get(best, ()))
            least[opposed] = np.maximum(least[opposed], value[best])
    return list(picked.values())
