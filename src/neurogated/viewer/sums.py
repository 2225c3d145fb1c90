"""Rounds numbers so that the shown terms add up to the shown sum."""

from __future__ import annotations

import math
from collections.abc import Sequence

_DIGITS = 3
_STEPS = 10**_DIGITS
_LARGEST = 1e9
_NOISE = 1e-6


def add_up(values: Sequence[float], total: float) -> list[float]:
    """Return the values rounded down or up to thousandths, so that they add up to the rounded total.

    The values with the largest remainders are rounded up. If the values do not add up to the total, each is rounded to
    the nearest thousandth.
    """
    # A comparison with NaN is false.
    if not all(abs(value) < _LARGEST for value in (*values, total)) or abs(math.fsum(values) - total) > 1 / _STEPS:
        return [round(value, _DIGITS) for value in values]
    scaled = [value * _STEPS for value in values]
    steps = [math.floor(value + _NOISE) for value in scaled]
    missing = round(total * _STEPS) - sum(steps)
    by_remainder = sorted(range(len(steps)), key=lambda place: steps[place] - scaled[place])
    for place in by_remainder[: max(0, missing)]:
        steps[place] += 1
    return [step / _STEPS for step in steps]
