"""The pairs of memories about which a model is asked: near ones, and those with claims in one slot."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import NamedTuple

from neurogated.core.conflicts import Conflict, disputes_about
from neurogated.core.contexts import remembered
from neurogated.core.derivation import claims_of, sources_of
from neurogated.core.facts import FACTS
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import slot_tag
from neurogated.core.same_as import anyone, others_of
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.knowledge.origin import are_one_text, is_message, statements_in, voice_of
from neurogated.text.keywords import NEGATIONS, language_of, split_keywords, split_words

# Earlier memories of the speaker, the nearest ones, that are compared with a new memory.
_NEAREST = 24

# Cosine times weight of the words in common of two clauses that differ, from which the model is asked.
_RARE = 1.4

# Cosine from which the model is asked in any case, and how far it must be above the average of the nearest memories.
_COSINE = 0.3
_CONTRAST = 0.25

_READ, _ROUNDS = 64, 4
"""Memories that are read in a round, and the rounds until enough of them are those of one speaker."""
_KNOWN = 6
"""Claims of the same slots that the model sees with a pair."""
_REMEMBERED = 1_024
_MOST = 8  # pairs about which the model is asked for a new memory
"""Texts whose clauses are kept."""
_BREAK = re.compile(r"[,;:](?=\s)|[，；：]|\s(?:and|but|und|aber|et|mais|y|pero)\s|但是?", re.IGNORECASE)
"""Where a clause ends within a sentence."""
_DENIED_HAN = re.compile("[不没沒未]")
_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")


class TextPair(NamedTuple):
    """A memory with an earlier one of the same speaker, and the places of the sentences that are most alike."""

    new: MemoryNode
    old: MemoryNode
    sentences: tuple[int, int]
    """The place in the old memory, and that in the new one."""
    known: Sequence[str] = ()
    """What the speaker said of the same slots at other times, as lines."""
    dispute: Conflict | None = None
    """The open conflict of their claims in one slot, if there is one."""

    @property
    def nodes(self) -> tuple[MemoryNode, ...]:
        """The memory that waits, and the other one."""
        return self.new, self.old


class _Clause(NamedTuple):
    place: int
    """The place of its sentence in the text."""
    words: frozenset[str]
    is_denied: bool
    numbers: frozenset[str]

    def differs(self, other: _Clause) -> bool:
        """Return whether one of both is denied, or both have numbers and not the same."""
        changes = bool(self.numbers and other.numbers) and self.numbers != other.numbers
        return changes or self.is_denied != other.is_denied


class CandidateFinder:
    """Finds the earlier memories of a speaker that a new one may contradict, by vectors and by rare words."""

    def __init__(self, store: GraphStorePort) -> None:
        self._store = store

    def pairs(self, view: GraphView, node: MemoryNode, is_left_out: Callable[[str], bool]) -> list[TextPair]:
        """Return the pairs about which the model is asked, the most urgent first.

        A pair is urgent if a clause of one memory has rare words of a clause of the other and is its denial or has
        other numbers, or if both are much more alike than the nearest memories are on average.
        """
        near = self._nearest(view, node, is_left_out)
        ours, *theirs = (_clauses(tuple(statements_in(one))) for one in (node, *(old for old, _ in near)))
        weights = _weights([ours, *theirs])
        # Memories that are missing count as 0, so in a small memory more pairs are asked.
        alike = max(_COSINE, sum(cosine for _, cosine in near) / _NEAREST + _CONTRAST)
        asked = []
        for (old, cosine), others in zip(near, theirs, strict=True):
            pairs = list(product(others, ours))
            weight, *places = _likeness((pair for pair in pairs if pair[0].differs(pair[1])), weights)
            if cosine * weight >= _RARE or cosine >= alike:
                at, place = places if weight else _likeness(pairs, weights)[1:]
                asked.append((cosine * (1 + weight), TextPair(node, old, (at, place))))
        asked.sort(key=lambda scored: -scored[0])
        return [pair for _, pair in asked[:_MOST]]

    def disputed(self, view: GraphView, node: MemoryNode, is_left_out: Callable[[str], bool]) -> Iterator[TextPair]:
        """Yield the pairs of a memory whose claims seem to exclude each other, because they are in one slot."""
        ours = claims_of(view, [node.id])
        for conflict in self._store.snapshot(view).disputes(ours) if ours else ():
            theirs = [side for side in conflict.sides if side not in ours]
            sources = (
                [name for name in sources_of(view, theirs).get(theirs[0], ()) if not is_left_out(name)]
                if theirs
                else []
            )
            old = next(filter(is_message, self._store.get_nodes(sources[-1:], missing_ok=True)), None)
            if conflict.status == "open" and old is not None and voice_of(old) == voice_of(node):
                yield TextPair(node, old, closest_sentences(old, node), dispute=conflict)

    def in_slots(self, view: GraphView, node: MemoryNode, is_left_out: Callable[[str], bool]) -> Iterator[TextPair]:
        """Yield the pairs of a memory with the latest one that says something else of a slot of its claims."""
        ours = claims_of(view, [node.id])
        known = {*self._linked(view, node.id), node.id} if ours else set()
        for claim in self._store.get_nodes([*ours]) if known else ():
            others = self._others(view, node, [claim], ours)[-_MOST:]
            sources = chain.from_iterable(sources_of(view, others).values())
            names = [name for name in sources if name not in known and not is_left_out(name)]
            said = (one for one in self._store.get_nodes(names, missing_ok=True) if is_message(one))
            old = max(
                (one for one in said if voice_of(one) == voice_of(node)), key=lambda one: one.moment, default=None
            )
            if old is not None and not are_one_text(old, node):
                yield TextPair(node, old, closest_sentences(old, node))

    def with_known(self, pair: TextPair) -> TextPair:
        """Return a pair with the latest claims of the slots of both memories that others make now."""
        view = self._store.view()
        own = claims_of(view, [node.id for node in pair.nodes])
        mates = self._store.get_nodes(self._others(view, pair.new, self._store.get_nodes([*own]), own)[-_KNOWN:])
        lines = [f"{one.moment.date().isoformat()}: {one.content}" for one in mates]
        return pair._replace(known=lines)

    def _others(
        self, view: GraphView, node: MemoryNode, claims: Iterable[MemoryNode], own: Collection[str]
    ) -> list[str]:
        scope = ScopeFilter(*node.scope.owner, alone=True)
        shown = self._store.snapshot(view, filters=Filter(scope=scope, kinds=FACTS))
        parts = (one.found.statement for one in claims)
        tags = {slot_tag(one.subject, one.attribute) for one in parts if one is not None}
        rows = dict.fromkeys(chain.from_iterable(shown.rows_with([tag]).tolist() for tag in sorted(tags)))
        return [name for name in map(view.ids.__getitem__, rows) if name not in own]

    def _nearest(
        self, view: GraphView, node: MemoryNode, is_left_out: Callable[[str], bool]
    ) -> list[tuple[MemoryNode, float]]:
        """Return the nearest memories of the same speaker with their cosines, without those that say the same."""
        if node.embedding is None or not is_message(node):
            return []
        known = {*self._linked(view, node.id), node.id}
        own = ScopeFilter(*node.scope.owner, alone=True)
        # A memory that was written since waits itself, and only this view is older than the queue.
        shown = self._store.snapshot(view, filters=Filter(scope=own, except_kinds=NO_MEMORIES))
        ((rows, scores),) = shown.nearest([node.embedding], _ROUNDS * _READ)
        found = zip(view.names(rows), scores.tolist(), strict=True)
        cosines = {name: cosine for name, cosine in found if name not in known and not is_left_out(name)}
        # In rounds, since the memories of other speakers, such as the assistant, may be near too.
        names = list(cosines)
        rounds = (names[begin : begin + _READ] for begin in range(0, len(names), _READ))
        read = chain.from_iterable(self._store.get_nodes(some, missing_ok=True) for some in rounds)
        alike = (one for one in read if is_message(one) and voice_of(one) == voice_of(node))
        said = (one for one in alike if not are_one_text(one, node))
        return [(one, cosines[one.id]) for one in islice(said, _NEAREST)]

    def _linked(self, view: GraphView, name: str) -> Iterator[str]:
        """Yield the ids of the memories that say the same as one, or are in conflict with it or with its claims."""
        yield from chain.from_iterable(others_of(view, view.known_rows([name]), anyone))
        about = disputes_about(self._store.snapshot(view), [name, *claims_of(view, [name])])
        sides = {side for one in about for side in one.sides}
        yield from (*sides, *chain.from_iterable(sources_of(view, sides).values()))


def closest_sentences(old: MemoryNode, new: MemoryNode) -> tuple[int, int]:
    """Return the places of the sentences of two memories with most words in common."""
    theirs, ours = (_clauses(tuple(statements_in(one))) for one in (old, new))
    return _likeness(product(theirs, ours), _weights([theirs, ours]))[1:]


@remembered(_REMEMBERED)
def _clauses(sentences: tuple[str, ...]) -> list[_Clause]:
    found = list[_Clause]()
    for place, sentence in enumerate(sentences):
        for clause in _BREAK.split(sentence):
            if keywords := frozenset(split_keywords(clause)):
                words = split_words(clause.replace("’", "'").lower())
                is_denied = not NEGATIONS[language_of(clause)].isdisjoint(words) or bool(_DENIED_HAN.search(clause))
                found.append(_Clause(place, keywords, is_denied, frozenset(_NUMBER.findall(clause))))
    return found


def _weights(texts: Sequence[Iterable[_Clause]]) -> dict[str, float]:
    counts = Counter(word for clauses in texts for word in frozenset().union(*(one.words for one in clauses)))
    return {word: math.log(1 + (1 + _NEAREST) / count) for word, count in counts.items()}


def _likeness(pairs: Iterable[tuple[_Clause, _Clause]], weights: Mapping[str, float]) -> tuple[float, int, int]:
    """Return the highest weight of the words in common of two clauses, and the places of their sentences."""
    found = ((sum(weights[word] for word in old.words & new.words), old.place, new.place) for old, new in pairs)
    return max(found, key=lambda one: one[0], default=(0.0, 0, 0))
