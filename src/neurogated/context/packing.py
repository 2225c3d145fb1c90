"""Chooses the memories of a context: the best by relevance and novelty, one after another, within a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Candidates", "Picked", "pack"]

_Values = NDArray[np.float64]
_Places = NDArray[np.int64]


class Candidates(NamedTuple):
    """The memories of a recall, best first, in parallel arrays."""

    relevance: _Values
    """(n,) scores divided by the best, 0–1."""
    sizes: _Places
    """(n,) tokens of each line, without its heading."""
    groups: _Places
    """(n,) numbers of headings."""
    headings: _Places
    """(groups,) tokens of each heading."""
    likeness: _Values
    """(n, n) cosines of the vectors, 0–1."""
    words: Sequence[frozenset[str]]
    """The n sets of words that carry meaning."""
    opposed: Mapping[int, Sequence[int]]
    """The memories that contradict a memory, by places."""


class Picked(NamedTuple):
    """A chosen memory, and why it was chosen."""

    place: int
    """Its rank, from 0."""
    value: float
    repetition: float
    """Cosine with the most similar memory chosen before."""
    repeats: int | None
    """Rank of that memory; None for the first."""
    tokens: int


def pack(
    candidates: Candidates, budget: int, repetition_cost: float, novelty_gain: float, first: int | None = None
) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    New words for each token raise the relevance, as in budgeted coverage (Lin and Bilmes, 2010). A memory that
    contradicts a chosen one has at least its value. A memory that does not fit is skipped; none is cut.

    Args:
        candidates: the memories.
        budget: most tokens of all lines and headings.
        repetition_cost: cost of the cosine with the most similar memory chosen before.
        novelty_gain: gain of relevance for one new word in each token, as a share.
        first: the place of the memory to choose first, which fits alone, whatever its size seems to be.
    """
    sizes, groups, headings = candidates.sizes, candidates.groups, candidates.headings.copy()
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free = np.ones(sizes.size, dtype=np.bool_)
    least = np.full(sizes.size, -np.inf)
    fresh = np.array([len(words) for words in candidates.words])
    having = defaultdict[str, list[int]](list)
    for place, words in enumerate(candidates.words):
        for word in words:
            having[word].append(place)
    picked: list[Picked] = []
    while (needed := sizes + headings[groups]).size:
        free &= needed <= budget
        if first is not None and not picked:
            free[first] = True
        if not free.any():
            break
        gain = 1.0 + novelty_gain * fresh / needed
        value = np.where(free, np.maximum(least, candidates.relevance * gain - repetition_cost * repetition), -np.inf)
        best = first if first is not None and not picked else int(value.argmax())
        tokens = int(needed[best])
        repeated = int(repeats[best]) if repeats[best] >= 0 else None
        picked.append(Picked(best, float(value[best]), float(repetition[best]), repeated, tokens))
        budget, free[best], headings[groups[best]] = budget - tokens, False, 0
        closer = candidates.likeness[best] > repetition
        repetition[closer], repeats[closer] = candidates.likeness[best][closer], best
        for word in candidates.words[best]:
            fresh[having.pop(word, [])] -= 1
        if least[best] == -np.inf:
            opposed = list(candidates.opposed.get(best, ()))
            least[opposed] = np.maximum(least[opposed], value[best])
    return picked
