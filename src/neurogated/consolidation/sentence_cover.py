"""Chooses sentences of a cluster that together have most of its words, names and numbers; it invents nothing.

A sentence has elements: its keywords, its numbers and times, and the names in it. The chosen sentences cover the union
of their elements. The number of covered elements is a monotone submodular function of the chosen sentences, so the
greedy choice of k sentences covers at least 1 - 1/e of the most that any k sentences cover.

    G. L. Nemhauser, L. A. Wolsey, M. L. Fisher: An analysis of approximations for maximizing submodular set functions.
    Mathematical Programming 14, 265–294 (1978)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from neurogated.core.model import MemoryNode
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.times import find_times

__all__ = ["Sentence", "cover", "cover_with_rivals", "rivals", "sentences_of"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a memory."""

    source: int
    """Position of the memory in the cluster."""
    place: int
    """Position of the sentence in the memory."""
    text: str
    elements: frozenset[str]
    """Its content: keywords, names, numbers and times."""
    figures: frozenset[str]
    """Its numbers and times."""

    @property
    def words(self) -> frozenset[str]:
        """Its keywords without numbers."""
        return frozenset(one for one in self.elements - self.figures if not one.startswith(" "))


def sentences_of(nodes: Sequence[MemoryNode]) -> list[Sentence]:
    """Return the sentences of memories, in order; equal sentences once."""
    found: dict[str, Sentence] = {}
    for source, node in enumerate(nodes):
        for place, sentence in enumerate(split_sentences(node.content)):
            text = sentence.strip()
            if text and text not in found:
                found[text] = _read(source, place, text, node.found.entities)
    return list(found.values())


def _read(source: int, place: int, text: str, names: Collection[str]) -> Sentence:
    keywords = split_keywords(text)
    figures = {word for word in keywords if any(map(str.isdigit, word))} | {fold(time) for time in find_times(text)}
    # A blank in front of a name keeps it apart from a keyword.
    named = {f" {fold(name)}" for name in names if name in text}
    return Sentence(source, place, text, frozenset((*keywords, *figures, *named)), frozenset(figures))


def rivals(first: Sentence, second: Sentence, share: float) -> bool:
    """Return whether two sentences seem to say the same thing with different numbers or times."""
    if first.figures == second.figures or not (first.figures and second.figures):
        return False
    one, other = first.words, second.words
    return bool(one and other) and len(one & other) >= share * min(len(one), len(other))


def cover(groups: Sequence[frozenset[str]], count: int, share: float = 1.0) -> list[int]:
    """Return the positions of at most `count` sets, chosen greedily until they cover a share of all elements."""
    wanted = share * len(frozenset[str]().union(*groups))
    covered: frozenset[str] = frozenset()
    chosen: list[int] = []
    while len(chosen) < count and len(covered) < wanted:
        gains = [len(group - covered) for group in groups]
        best = max(range(len(groups)), key=gains.__getitem__)
        chosen.append(best)
        covered |= groups[best]
    return chosen


def cover_with_rivals(sentences: Sequence[Sentence], count: int, share: float, rivalry: float) -> list[Sentence]:
    """Return the chosen sentences in their order. Rivals are chosen together or not at all, so no claim stands alone.

    Args:
        sentences: of one cluster.
        count: the most groups of rivals; a sentence without a rival is a group.
        share: of the elements; enough is covered with it.
        rivalry: the least share of common words of two rivals.
    """
    groups = list(_together(sentences, rivalry))
    elements = [frozenset[str]().union(*(one.elements for one in group)) for group in groups]
    chosen = [sentence for place in cover(elements, count, share) for sentence in groups[place]]
    return sorted(chosen, key=lambda one: (one.source, one.place))


def _together(sentences: Sequence[Sentence], rivalry: float) -> Iterator[list[Sentence]]:
    """Yield the groups of sentences that are connected by rivalry."""
    group = list(range(len(sentences)))
    for first, second in combinations(range(len(sentences)), 2):
        if group[first] != group[second] and rivals(sentences[first], sentences[second], rivalry):
            joined = group[second]
            group = [group[first] if one == joined else one for one in group]
    for number in dict.fromkeys(group):
        yield [sentence for sentence, own in zip(sentences, group, strict=True) if own == number]
