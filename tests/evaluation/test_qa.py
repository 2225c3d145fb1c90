"""Exact match and F1 as HippoRAG computes them."""

import pytest

from neurogated.evaluation.runner import exact_match, f1_score, normalize_answer


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
