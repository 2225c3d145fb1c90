"""The pairs of memories about which a language model is asked, because rules cannot tell whether they conflict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.conflicts import conflicts_about
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.same_as import anyone, others_of
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.knowledge.clauses import clauses_in, keys_in, language_in
from neurogated.knowledge.origin import are_one_text, is_compared, statements_in, voice_of
from neurogated.knowledge.statement import read_text

__all__ = ["PairFinder", "UncertainPair"]

# Cosine of two memories from which the model is asked in any case; 0.65 suits all-MiniLM-L6-v2.
_LIKENESS = 0.65

# How far such a cosine must be above the average of the nearest memories.
_CONTRAST = 0.15

# Share of its words that a clause must have in common with an earlier one, if one of both is denied or has another
# amount.
_CLAUSES = 0.2

# Earlier memories of the speaker, the nearest ones, that rules compare with a new memory for the model.
_NEAREST = 24

# Latest earlier texts that each claim is compared with.
_CANDIDATES = 64

_LEAST = 2
"""Words that two clauses must share, unless one of them has a single word."""
_ROUNDS = 4
"""Rounds in which the nearest memories are read until enough of them are those of one speaker."""


class UncertainPair(NamedTuple):
    """A memory with an earlier one of the same speaker, and the places of the sentences that are most alike."""

    new: MemoryNode
    old: MemoryNode
    sentences: tuple[int, int]
    """The place in the old memory, and that in the new one."""


class _Clause(NamedTuple):
    place: int
    keys: frozenset[str]
    is_negated: bool
    amounts: frozenset[object]

    def differs(self, other: _Clause) -> bool:
        """Return whether one of both is denied, or both have amounts or times that differ."""
        changes = bool(self.amounts and other.amounts) and self.amounts != other.amounts
        return changes or self.is_negated != other.is_negated


class PairFinder:
    """Finds the pairs in two steps: the nearest earlier memories, and the rules that leave few of them."""

    def __init__(self, store: GraphStorePort, settings: MetabolismSettings) -> None:
        self._store = store
        self._settings = settings

    def candidates(
        self, view: GraphView, node: MemoryNode, is_left_out: Callable[[str], bool]
    ) -> list[tuple[MemoryNode, float]]:
        """Return the nearest memories of the same speaker with their cosines, without those that say the same."""
        if node.embedding is None or not is_compared(node) or node.found.statement is not None:
            return []
        known = {*self._linked(view, node.id), node.id}
        own = ScopeFilter(*node.scope.owner, alone=True)
        shown = self._store.view(filters=Filter(scope=own, except_kinds=NO_MEMORIES))
        found = self._store.nearest(node.embedding, _ROUNDS * _CANDIDATES, shown)
        cosines = {name: cosine for name, cosine in found if name not in known and not is_left_out(name)}
        alike = (one for one in self._read(list(cosines)) if is_compared(one) and one.found.statement is None)
        said = (one for one in alike if voice_of(one) == voice_of(node) and not are_one_text(one, node))
        return [(one, cosines[one.id]) for one in islice(said, _NEAREST)]

    def _read(self, names: Sequence[str]) -> Iterator[MemoryNode]:
        """Yield memories in order, read in rounds: those of other speakers, such as the assistant, may be near too."""
        most = _CANDIDATES
        for begin in range(0, len(names), most):
            yield from self._store.get_nodes(names[begin : begin + most], missing_ok=True)

    def pairs(self, node: MemoryNode, candidates: Sequence[tuple[MemoryNode, float]]) -> list[UncertainPair]:
        """Return those of the candidates that the rules leave open, the most urgent first.

        Rules decide a pair if no clause of one memory differs from a clause of the other that shares its words. Only a
        memory that is much more alike than the candidates are on average stays open all the same.
        """
        ours, theirs = _clauses(node), [_clauses(old) for old, _ in candidates]
        weights = _weights([ours, *theirs])
        # Candidates that are missing count as 0, so in a small memory more pairs stay open.
        average = sum(cosine for _, cosine in candidates) / max(1, _NEAREST)
        likeness = max(_LIKENESS, average + _CONTRAST)
        open_pairs = []
        for (old, cosine), others in zip(candidates, theirs, strict=True):
            share, at, place = max(_rivals(ours, others, weights), default=(0.0, 0, 0))
            if share >= _CLAUSES or cosine >= likeness:
                open_pairs.append((share + cosine / 2, UncertainPair(node, old, (at, place))))
        open_pairs.sort(key=lambda scored: -scored[0])
        return [pair for _, pair in open_pairs]

    def _linked(self, view: GraphView, name: str) -> Iterator[str]:
        """Yield the ids of the memories that say the same as one, or that are in conflict with it."""
        rows = view.known_rows([name])
        yield from chain.from_iterable(others_of(view, rows, anyone))
        about = conflicts_about(view, [name])
        if about:
            arcs = view.arcs(view.known_rows(about), EdgeType.CONFLICT)
            yield from (view.ids[row] for row in np.unique(arcs.target).tolist())


def _clauses(node: MemoryNode) -> list[_Clause]:
    return [
        _Clause(
            place, keys, read.is_negated, frozenset(filter(None, (one.quantity or one.moment for one in read.tokens)))
        )
        for place, sentence in enumerate(statements_in(node))
        for clause in clauses_in(sentence)
        if (keys := keys_in(clause, language_in(clause)))
        for read in (read_text(clause),)
    ]


def _weights(texts: Sequence[Iterable[_Clause]]) -> dict[str, float]:
    """Return the weight of each word: words that many of the texts have count less."""
    counts = Counter(key for clauses in texts for key in frozenset().union(*(one.keys for one in clauses)))
    return {key: math.log(1 + len(texts) / count) for key, count in counts.items()}


def _rivals(
    ours: Iterable[_Clause], theirs: Sequence[_Clause], weights: dict[str, float]
) -> Iterator[tuple[float, int, int]]:
    """Yield for each two clauses that differ the share of their words in common, and their places."""
    for mine in ours:
        for other in theirs:
            shared = mine.keys & other.keys
            enough = min(_LEAST, len(mine.keys), len(other.keys))
            if len(shared) >= enough and mine.differs(other):
                whole = math.sqrt(_sum(mine.keys, weights) * _sum(other.keys, weights))
                yield _sum(shared, weights) / whole, other.place, mine.place


def _sum(keys: Iterable[str], weights: dict[str, float]) -> float:
    return sum(weights[key] for key in keys)
