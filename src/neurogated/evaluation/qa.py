"""Scores of answers, as HippoRAG computes them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(answer: str) -> str:
    """Return `answer` in lower case, without punctuation, articles and extra white space.

    Source: the SQuAD evaluation (Rajpurkar et al. 2016), which HippoRAG uses too.
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(predicted: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalised prediction equals a normalised answer, else 0."""
    return float(normalize_answer(predicted) in {normalize_answer(answer) for answer in answers})


def f1_score(predicted: str, answers: Sequence[str]) -> float:
    """Return the best F1 of the prediction's words against those of an answer, 0–1."""
    return max(
        (_f1(normalize_answer(predicted).split(), normalize_answer(answer).split()) for answer in answers), default=0.0
    )


def _f1(predicted: Sequence[str], answer: Sequence[str]) -> float:
    common = sum((Counter(predicted) & Counter(answer)).values())
    return 2 * common / (len(predicted) + len(answer)) if common else 0.0
