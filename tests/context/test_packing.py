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
        np.array(draw(st.lists(st.integers(1, 400), min_size=count, max_size=count)), dtype=np.int64),
        np.round(vectors @ vectors.T, 6),
        draw(st.dictionaries(st.integers(0, count - 1), st.lists(st.integers(0, count - 1)))) if count else {},
        draw(st.dictionaries(st.integers(0, count - 1), st.lists(st.integers(0, count - 1), max_size=1)))
        if count
        else {},
    )


def slowly_packed(given_: Candidates, budget: int) -> list[int]:
    chosen: list[int] = []
    called: dict[int, float] = {}
    refused: set[int] = set()
    while True:
        values = {}
        for one in set(range(len(given_.sizes))) - {*chosen} - refused:
            repeated = max((float(given_.likeness[one, other]) for other in chosen), default=0.0)
            relevance = float(given_.relevance[one]) * max(1.0, int(given_.sizes[one]) / 96) ** -0.3
            values[one] = max(called.get(one, -np.inf), relevance - 0.2 * repeated)
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


@given(candidates(), st.integers(0, 2000))
def test_the_choice_equals_that_of_a_slow_search(given_: Candidates, budget: int) -> None:
    picked = pack(given_, budget)
    assert [one.place for one in picked] == slowly_packed(given_, budget)
    assert sum(one.tokens for one in picked) <= budget


@given(candidates(), st.integers(0, 2000))
def test_a_memory_that_is_cut_keeps_its_place(given_: Candidates, budget: int) -> None:
    picked = pack(given_, budget, cut=lambda _, room: room)
    assert sum(one.tokens for one in picked) <= budget
    if budget and len(given_.sizes) and not given_.later:
        relevance = given_.relevance * np.maximum(1.0, given_.sizes / 96) ** -0.3
        assert picked[0].place == int(np.argmax(relevance))
