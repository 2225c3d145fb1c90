"""Recall against an independent reference, and exact match and F1 as HippoRAG computes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.evaluation.gold import recall_at, scores_of
from neurogated.evaluation.runner import exact_match, f1_score, normalize_answer


@given(st.permutations(range(6)), st.frozensets(st.integers(0, 7), min_size=1), st.integers(1, 7))
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


@pytest.mark.parametrize(
    ("answer", "normal"),
    [("The Orrskell Light!", "orrskell light"), ("  an   Apple, a pear ", "apple pear"), ("U.S.A.", "usa"), ("", "")],
)
def test_answers_are_normalised_as_in_squad(answer: str, normal: str) -> None:
    assert normalize_answer(answer) == normal


@pytest.mark.parametrize(
    ("predicted", "answers", "expected"),
    [
        ("the Ferry", ["ferry"], 1.0),
        ("a boat", ["ferry", "Boat."], 1.0),
        ("the old ferry", ["ferry"], 0.0),
        ("", ["ferry"], 0.0),
        ("ferry", [], 0.0),
    ],
)
def test_exact_match_takes_any_of_the_answers(predicted: str, answers: list[str], expected: float) -> None:
    assert exact_match(predicted, answers) == expected


@pytest.mark.parametrize(
    ("predicted", "answers", "expected"),
    [
        ("19 October 1922", ["19 October 1922"], 1.0),
        ("October 1922", ["19 October 1922"], 2 * 1.0 * (2 / 3) / (1.0 + 2 / 3)),
        ("in October", ["19 October 1922", "October"], 2 / 3),
        ("ferry ferry", ["ferry"], 2 / 3),
        ("boat", ["ferry"], 0.0),
        ("", [""], 0.0),
        ("boat", [], 0.0),
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall_of_words(
    predicted: str, answers: list[str], expected: float
) -> None:
    assert f1_score(predicted, answers) == pytest.approx(expected)
