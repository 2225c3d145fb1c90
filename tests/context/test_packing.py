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
        draw(st.dictionaries(st.integers(0, count - 1), st.lists(st.integers(0, count - 1), max_size=1)))
        if count
        else {},
    )


def slowly_packed(given_: Candidates, budget: int, repetition_cost: float, novelty_gain: float) -> list[int]:
    chosen: list[int] = []
    called: dict[int, float] = {}
    refused: set[int] = set()
    while True:
        known = {word for one in chosen for word in given_.words[one]}
        values = {}
        for one in set(range(len(given_.sizes))) - {*chosen} - refused:
            repeated = max((float(given_.likeness[one, other]) for other in chosen), default=0.0)
            gain = 1 + novelty_gain * len(given_.words[one] - known) / int(given_.sizes[one])
            values[one] = max(called.get(one, -np.inf), given_.relevance[one] * gain - repetition_cost * repeated)
        if not values:
            return chosen
        best = min(values, key=lambda one: (-values[one], one))
        group, reach = [best], [best]
        while reach:
            reach = [one for at in reach for one in given_.later.get(at, ()) if one not in (*group, *chosen)]
            group += reach
        if sum(int(given_.sizes[one]) for one in group) > budget:
            refused |= {best, *(one for one in range(len(given_.sizes)) if given_.sizes[one] > budget)}
            continue
        for one in group:
            if one not in called:
                for other in given_.opposed.get(one, ()):
                    called[other] = max(called.get(other, -np.inf), values[best])
            chosen.append(one)
            budget -= int(given_.sizes[one])


@given(candidates(), st.integers(0, 100), st.sampled_from([0.0, 0.2, 1.0]), st.sampled_from([0.0, 2.0]))
def test_the_choice_equals_that_of_a_slow_search(
    given_: Candidates, budget: int, repetition_cost: float, novelty_gain: float
) -> None:
    picked = pack(given_, budget, repetition_cost, novelty_gain)
    assert [one.place for one in picked] == slowly_packed(given_, budget, repetition_cost, novelty_gain)
    assert sum(one.tokens for one in picked) <= budget


@given(candidates(), st.integers(0, 100))
def test_a_later_memory_stands_wherever_the_earlier_one_does(given_: Candidates, budget: int) -> None:
    chosen = {one.place for one in pack(given_, budget, 0.2, 2.0)}
    for place in chosen:
        assert chosen.issuperset(given_.later.get(place, ()))


@given(candidates(), st.integers(0, 100))
def test_a_memory_that_is_cut_keeps_its_place(given_: Candidates, budget: int) -> None:
    picked = pack(given_, budget, 0.0, 0.0, cut=lambda _, room: room)
    assert sum(one.tokens for one in picked) <= budget
    if budget and len(given_.sizes) and not given_.later:
        assert picked[0].place == int(np.argmax(given_.relevance))
