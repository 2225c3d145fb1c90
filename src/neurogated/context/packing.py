"""Chooses the memories of a context: the best by relevance and novelty, one after another, within a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Values = NDArray[np.float64]
_Places = NDArray[np.int64]

REPETITION_COST = 0.2
"""Cost of the cosine of a memory with those that are already in the context; more costs evidence."""
NOVELTY_GAIN = 0.5
"""Gain of a memory's score, as a share, if each of its tokens is a new word."""


class Candidates(NamedTuple):
    """Memories in parallel arrays."""

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


def pack(
    candidates: Candidates,
    budget: int,
    repetition_cost: float = REPETITION_COST,
    novelty_gain: float = NOVELTY_GAIN,
    cut: Callable[[int, int], int] = lambda _place, _room: 0,
) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    New words for each token raise the relevance, as in budgeted coverage (Lin and Bilmes, 2010). A memory that
    contradicts a chosen one has at least its value. A memory is chosen with its later ones, or not at all.

    Args:
        candidates: the memories.
        budget: most tokens of all lines.
        repetition_cost: cost of the cosine with the most similar memory chosen before.
        novelty_gain: gain of relevance for one new word in each token, as a share.
        cut: shortens the best memory that is left to the given number of tokens if it does not fit, and returns how
            many it has then; 0 if it cannot. Then all memories that do not fit are skipped.
    """
    sizes = candidates.sizes.copy()
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free, chosen = np.ones(sizes.size, dtype=np.bool_), np.zeros(sizes.size, dtype=np.bool_)
    least = np.full(sizes.size, -np.inf)
    fresh = np.array([len(words) for words in candidates.words])
    having = defaultdict[str, list[int]](list)
    for place, words in enumerate(candidates.words):
        for word in words:
            having[word].append(place)
    picked: list[Picked] = []
    while free.any():
        gain = 1.0 + novelty_gain * fresh / np.maximum(1, sizes)
        value = np.where(free, np.maximum(least, candidates.relevance * gain - repetition_cost * repetition), -np.inf)
        best = int(value.argmax())
        group = _with_later(best, candidates.later, chosen)
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
            for word in candidates.words[place]:
                fresh[having.pop(word, [])] -= 1
            if least[place] == -np.inf:
                opposed = list(candidates.opposed.get(place, ()))
                least[opposed] = np.maximum(least[opposed], value[best])
    return picked


def _with_later(place: int, later: Mapping[int, Sequence[int]], chosen: NDArray[np.bool_]) -> list[int]:
    """Return a place and those of the memories that must stand beside it, and beside them, that are not chosen yet."""
    group, following = [place], list(later.get(place, ()))
    while following:
        one = following.pop()
        if one not in group and not chosen[one]:
            group.append(one)
            following += later.get(one, ())
    return group
