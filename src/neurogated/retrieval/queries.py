"""Checks the arguments of a recall, and shortens long queries."""

from __future__ import annotations

import numpy as np

from neurogated.errors import InputError

__all__ = ["checked_score", "shortened"]


def shortened(query: str, most: int) -> str:
    """Return a query of at most `most` characters: of a longer one its beginning and its end, where questions are."""
    if len(query) <= most:
        return query
    text, half = query.strip(), (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]} {text[-half:]}"


def checked_score(score: object) -> float:
    """Return the minimum score, -∞ if `score` is None; raise InputError if it is no number."""
    if score is None:
        return -np.inf
    if isinstance(score, bool) or not isinstance(score, int | float) or score != score:  # noqa: PLR0124 - NaN
        raise InputError(f"min_score is {score!r}, but must be a number")
    return score
