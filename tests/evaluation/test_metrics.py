"""Recall against an independent reference, and tables against values computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.evaluation.gold import recall_at, scores_of

RANKINGS = st.lists(st.integers(0, 30), unique=True, max_size=25)
GOLDS = st.frozensets(st.integers(0, 30), min_size=1, max_size=6)


@given(RANKINGS, GOLDS, st.integers(1, 30))
def test_recall_is_the_share_of_gold_items_found_in_time(ranked: list[int], gold: frozenset[int], k: int) -> None:
    found = 0
    for item in gold:
        if item in ranked and ranked.index(item) < k:
            found += 1
    assert recall_at(ranked, gold, k) == pytest.approx(found / len(gold))


def test_no_gold_passage_among_the_ranked_scores_nothing_and_the_ideal_order_everything() -> None:
    assert set(scores_of([3, 4], {1, 2}, [1, 5]).values()) == {0}
    assert scores_of(list(range(30)), set(range(12)), [20]) == {"R@20": 100, "MRR": 100, "nDCG@10": 100}
    assert set(scores_of([], {1}, [1]).values()) == {0}
