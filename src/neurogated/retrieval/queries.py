"""Checks the arguments of a recall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neurogated.core.text import checked_text
from neurogated.errors import InputError

__all__ = ["checked_queries", "checked_score"]


def checked_queries(queries: Sequence[str]) -> None:
    """Raise InputError if a query is no text or blank."""
    for query in queries:
        if not checked_text("the query", query).strip():
            raise InputError("the query is blank; ask something")


def checked_score(score: object) -> float:
    """Return the minimum score, -∞ if `score` is None; raise InputError if it is no number."""
    if score is None:
        return -np.inf
    if isinstance(score, bool) or not isinstance(score, int | float) or score != score:  # noqa: PLR0124 - NaN
        raise InputError(f"min_score is {score!r}, but must be a number")
    return score
