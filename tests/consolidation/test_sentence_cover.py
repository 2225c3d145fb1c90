"""The choice of sentences: against brute force, and only words of the sources."""

from __future__ import annotations

import math
from itertools import combinations

import hypothesis.strategies as st
from hypothesis import given

from neurogated import MemoryNode
from neurogated.consolidation.facts import quoted
from neurogated.consolidation.sentence_cover import cover, cover_with_rivals, rivals, sentences_of

SETS = st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1, max_size=5), min_size=1, max_size=8)
WORDS = st.sampled_from(["kiln", "pottery", "Velmouth", "2", "3", "May", "dog", "ate", "the", "Rex", "2024", "cake"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(lambda words: " ".join(words).capitalize() + ".")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)


def nodes_of(*texts: str) -> list[MemoryNode]:
    return [MemoryNode(str(place), text) for place, text in enumerate(texts)]


@given(SETS, st.integers(1, 5))
def test_the_greedy_choice_covers_at_least_the_proven_share_of_the_best(sets: list[frozenset[str]], count: int) -> None:
    def covered(places: tuple[int, ...] | list[int]) -> int:
        return len(frozenset[str]().union(*(sets[place] for place in places)))

    best = max(covered(places) for size in range(1, count + 1) for places in combinations(range(len(sets)), size))
    assert covered(cover(sets, count)) >= (1 - 1 / math.e) * best


@given(st.lists(TEXTS, min_size=1, max_size=5), st.integers(1, 6), st.floats(0, 1))
def test_every_chosen_sentence_is_a_sentence_of_its_source(texts: list[str], count: int, share: float) -> None:
    nodes = nodes_of(*texts)
    chosen = cover_with_rivals(sentences_of(nodes), count, share, 0.5)
    assert all(sentence.text in nodes[sentence.source].content for sentence in chosen)
    places = [(sentence.source, sentence.place) for sentence in chosen]
    assert places == sorted(set(places))
    for line in quoted(nodes, chosen).splitlines():
        assert all(part in " ".join(texts) for part in line.split(". "))


@given(st.lists(TEXTS, min_size=1, max_size=5), st.integers(1, 6), st.floats(0, 1))
def test_no_rival_of_a_chosen_sentence_is_left_out(texts: list[str], count: int, share: float) -> None:
    sentences = sentences_of(nodes_of(*texts))
    chosen = cover_with_rivals(sentences, count, share, 0.5)
    for one in chosen:
        assert all(other in chosen for other in sentences if rivals(one, other, 0.5))


def test_equal_statements_with_different_numbers_or_days_are_rivals() -> None:
    three, four, other, day, next_day = sentences_of(
        nodes_of(
            "The pump room has 3 valves.",
            "The pump room has 4 valves.",
            "The garden has 4 trees.",
            "The course begins on Monday.",
            "The course begins on Tuesday.",
        )
    )
    assert rivals(three, four, 0.5)
    assert rivals(day, next_day, 0.5)
    assert not rivals(four, other, 0.5)
    assert not rivals(three, three, 0.5)
