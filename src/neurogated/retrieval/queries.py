"""Checks the arguments of a recall."""

from __future__ import annotations

import numpy as np

from neurogated.errors import InputError

__all__ = ["checked_score"]


def checked_score(score: object) -> float:
    """Return the minimum score, -∞ if `score` is None; raise InputError if it is no number."""
    if score is None:
        return -np.inf
    if isinstance(score, bool) or not isinstance(score, int | float) or score != score:  # noqa: PLR0124 - NaN
        raise InputError(f"min_score is {score!r}, but must be a number")
    return score
