"""The choice of memories, against a slow independent reference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurogated.context.packing import Candidates, pack


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    count = draw(st.integers(0, 8))
    vectors = np.array(
        draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=count, max_size=count)), dtype=np.float64
    ).reshape(count, 3)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    relevance = sorted(draw(st.lists(st.integers(0, 10), min_size=count, max_size=count)), reverse=True)
    return Candidates(
        np.array(relevance, dtype=np.float64) / 10,
        np.array(draw(st.lists(st.integers(1, 20), min_size=count, max_size=count)), dtype=np.int64),
        np.round(vectors @ vectors.T, 6),
        draw(st.lists(st.frozensets(st.sampled_from("abcd")), min_size=count, max_size=count)),
        draw(st.dictionaries(st.integers(0, count - 1), st.lists(st.integers(0, count - 1)))) if count else {},
        {},
    )


def slowly_packed(given_: Candidates, budget: int, repetition_cost: float, novelty_gain: float) -> list[int]:
    chosen: list[int] = []
    called: dict[int, float] = {}
    while True:
        known = {word for one in chosen for word in given_.words[one]}
        best, best_value = None, -np.inf
        for one in range(len(given_.sizes)):
            needed = int(given_.sizes[one])
            if one in chosen or needed > budget:
                continue
            repeated = max((float(given_.likeness[one, other]) for other in chosen), default=0.0)
            gain = 1 + novelty_gain * len(given_.words[one] - known) / needed
            value = max(called.get(one, -np.inf), given_.relevance[one] * gain - repetition_cost * repeated)
            if value > best_value:
                best, best_value, cost = one, value, needed
        if best is None:
            return chosen
        if best not in called:
            for one in given_.opposed.get(best, ()):
                called[one] = max(called.get(one, -np.inf), best_value)
        chosen.append(best)
        budget -= cost


@given(candidates(), st.integers(0, 100), st.sampled_from([0.0, 0.2, 1.0]), st.sampled_from([0.0, 2.0]))
def test_the_choice_equals_that_of_a_slow_search(
    given_: Candidates, budget: int, repetition_cost: float, novelty_gain: float
) -> None:
    picked = pack(given_, budget, repetition_cost, novelty_gain)
    assert [one.place for one in picked] == slowly_packed(given_, budget, repetition_cost, novelty_gain)
    assert sum(one.tokens for one in picked) <= budget


@given(candidates(), st.integers(0, 100))
def test_no_memory_that_still_fits_is_left_out(given_: Candidates, budget: int) -> None:
    picked = pack(given_, budget, 0.2, 2.0)
    left = budget - sum(one.tokens for one in picked)
    for one in set(range(len(given_.sizes))) - {each.place for each in picked}:
        assert given_.sizes[one] > left


def test_a_memory_that_says_its_facts_itself_takes_their_place() -> None:
    vectors = np.eye(3)
    words = [frozenset("a"), frozenset("ab"), frozenset("c")]
    sizes = np.array([2, 10, 3])
    given_ = Candidates(np.array([1.0, 0.9, 0.1]), sizes, vectors, words, {}, {1: [0]})
    assert [one.place for one in pack(given_, 13, 0.2, 0.0)] == [1, 2]
    assert [one.place for one in pack(given_, 9, 0.2, 0.0)] == [0, 2]
