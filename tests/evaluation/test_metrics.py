"""Recall against an independent reference, and tables against values computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.evaluation.model import RECALL_CUTOFFS, latency_table, recall_at, recall_table, scores_of

RANKINGS = st.lists(st.integers(0, 30), unique=True, max_size=25)
GOLDS = st.frozensets(st.integers(0, 30), min_size=1, max_size=6)
COLUMNS = [f"R@{k}" for k in RECALL_CUTOFFS]


@given(RANKINGS, GOLDS, st.integers(1, 30))
def test_recall_is_the_share_of_gold_items_found_in_time(ranked: list[int], gold: frozenset[int], k: int) -> None:
    found = 0
    for item in gold:
        if item in ranked and ranked.index(item) < k:
            found += 1
    assert recall_at(ranked, gold, k) == pytest.approx(found / len(gold))


def test_recall_table_has_a_row_a_kind_and_the_mean_over_questions() -> None:
    table = recall_table(
        [[0, 1, 2, 3, 4], [9, 8, 7, 6, 5, 0], ["D1:1", "D1:2"]], [{0, 2}, {0}, {"D1:2"}], ["why", "why", "when"]
    )
    assert list(table) == ["when", "why", "all"]
    assert all(list(row) == ["questions", *COLUMNS, "MRR", "nDCG@10"] for row in table.values())
    second, third, sixth = (1 / math.log2(1 + rank) for rank in (2, 3, 6))
    first = (1 + third) / (1 + second)
    whens, whys = (
        [1, 0, 100, 100, 100, 100, 50, 100 * second],
        [2, 25, 25, 50, 100, 100, 700 / 12, 50 * (first + sixth)],
    )
    assert list(table["when"].values()) == pytest.approx(whens)
    assert list(table["why"].values()) == pytest.approx(whys)
    every = [3, 50 / 3, 50, 200 / 3, 100, 100, 500 / 9, 100 * (first + second + sixth) / 3]
    assert list(table["all"].values()) == pytest.approx(every)


def test_no_gold_passage_among_the_ranked_scores_nothing_and_the_ideal_order_everything() -> None:
    assert set(scores_of([3, 4], {1, 2}, [1, 5]).values()) == {0}
    assert scores_of(list(range(30)), set(range(12)), [20]) == {"R@20": 100, "MRR": 100, "nDCG@10": 100}
    assert set(scores_of([], {1}, [1]).values()) == {0}


def test_questions_without_gold_do_not_count() -> None:
    with_gold = recall_table([[1], [3]], [{1}, {2}], ["why", "when"])
    and_without = recall_table([[1], [3], [5], [6]], [{1}, {2}, set(), frozenset()], ["why", "when", "why", "odd"])
    assert and_without == with_gold
    assert [row["questions"] for row in with_gold.values()] == [1, 1, 2]


def test_latency_table_has_median_and_high_quantile_in_milliseconds() -> None:
    table = latency_table(
        [
            {"embed": 0.100, "search": 0.001, "rank": 0.010},
            {"embed": 0.300, "search": 0.002, "rank": 0.020},
            {"embed": 0.200, "search": 0.003, "rank": 0.030},
        ]
    )
    assert list(table) == ["embed", "search", "rank", "all except embed"]
    assert [row["median ms"] for row in table.values()] == pytest.approx([200, 2, 20, 22])
    assert [row["p95 ms"] for row in table.values()] == pytest.approx([290, 2.9, 29, 31.9])
