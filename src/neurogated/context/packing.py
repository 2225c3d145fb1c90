"""Chooses the memories of a context: the best by relevance and length, one after another, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Values = NDArray[np.float64]
_Places = NDArray[np.int64]

REPETITION_COST = 0.2
"""Cost of the cosine of a memory with those that are already in the context; more costs evidence."""
_LONG = 96
_LENGTH_COST = 0.3
"""A line of more than so many tokens has its relevance divided by this power of how many times as long it is."""


class Candidates(NamedTuple):
    """Memories in parallel arrays."""

    relevance: _Values
    """(n,) scores divided by the best, 0–1."""
    sizes: _Places
    """(n,) tokens of each line."""
    likeness: _Values
    """(n, n) cosines of the vectors, 0–1."""
    opposed: Mapping[int, Sequence[int]]
    """The memories that contradict a memory, by places."""
    later: Mapping[int, Sequence[int]]
    """The memories that must stand beside a memory, because they were said later about the same, by places."""


class Picked(NamedTuple):
    """A chosen memory, and why it was chosen."""

    place: int
    """From 0."""
    value: float
    repetition: float
    """Cosine with the most similar memory chosen before."""
    repeats: int | None
    """Place of that memory; None for the first."""
    tokens: int


def pack(candidates: Candidates, budget: int, cut: Callable[[int, int], int] = lambda _place, _room: 0) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    The relevance falls with the length, as in budgeted coverage (Lin and Bilmes, 2010), and with the cosine with what
    is chosen already. A memory that contradicts a chosen one has at least its value. A memory is chosen with its later
    ones, or not at all.

    Args:
        candidates: the memories.
        budget: most tokens of all lines.
        cut: shortens the best memory that is left to the given number of tokens if it does not fit, and returns how
            many it has then; 0 if it cannot. Then all memories that do not fit are skipped.
    """
    sizes = candidates.sizes.copy()
    relevance = candidates.relevance * np.maximum(1.0, sizes / _LONG) ** -_LENGTH_COST
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free, chosen = np.ones(sizes.size, dtype=np.bool_), np.zeros(sizes.size, dtype=np.bool_)
    least = np.full(sizes.size, -np.inf)
    picked: list[Picked] = []
    while free.any():
        value = np.where(free, np.maximum(least, relevance - REPETITION_COST * repetition), -np.inf)
        best = int(value.argmax())
        group = with_later(best, candidates.later, {*np.flatnonzero(chosen).tolist()})
        needed = int(sizes[group].sum())
        if needed > budget:
            # The later ones stay whole.
            room = budget - needed + int(sizes[best])
            size = cut(best, room) if room > 0 else 0
            if not 0 < size <= room:
                free[best] = False
                free &= sizes <= budget
                continue
            sizes[best] = size
        for place in group:
            repeated = int(repeats[place]) if repeats[place] >= 0 else None
            tokens = int(sizes[place])
            picked.append(Picked(place, float(value[best]), float(repetition[place]), repeated, tokens))
            budget, free[place], chosen[place] = budget - tokens, False, True
            closer = candidates.likeness[place] > repetition
            repetition[closer], repeats[closer] = candidates.likeness[place][closer], place
            if least[place] == -np.inf:
                opposed = list(candidates.opposed.get(place, ()))
                least[opposed] = np.maximum(least[opposed], value[best])
    return picked


def with_later(place: int, later: Mapping[int, Sequence[int]], chosen: Collection[int]) -> list[int]:
    """Return a place and those of the memories that must stand beside it, and beside them, that are not chosen yet."""
    group, following = [place], list(later.get(place, ()))
    while following:
        one = following.pop()
        if one not in group and one not in chosen:
            group.append(one)
            following += later.get(one, ())
    return group
