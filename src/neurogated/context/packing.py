"""Chooses the memories of a context: the best by relevance and novelty, one after another, within a budget."""

from __future__ import annotations

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


def pack(candidates: Candidates, budget: int, repetition_cost: float) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    A memory that does not fit is skipped; none is cut.

    Args:
        candidates: the memories.
        budget: most tokens of all lines and headings.
        repetition_cost: cost of the cosine with the most similar memory chosen before.
    """
    sizes, groups, headings = candidates.sizes, candidates.groups, candidates.headings.copy()
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free = np.ones(sizes.size, dtype=np.bool_)
    picked: list[Picked] = []
    while (free := free & (sizes + headings[groups] <= budget)).any():
        value = np.where(free, candidates.relevance - repetition_cost * repetition, -np.inf)
        best = int(value.argmax())
        tokens = int(sizes[best] + headings[groups[best]])
        repeated = int(repeats[best]) if repeats[best] >= 0 else None
        picked.append(Picked(best, float(value[best]), float(repetition[best]), repeated, tokens))
        budget, free[best], headings[groups[best]] = budget - tokens, False, 0
        closer = candidates.likeness[best] > repetition
        repetition[closer], repeats[closer] = candidates.likeness[best][closer], best
    return picked
