"""The trust in the graph for one question.

Activation starts from the memories that are most similar to the question. If one of them has a clear lead, it is
probably right, and its neighbours are worth finding. If several are about as similar, activation probably starts from
wrong ones. So trust grows with the lead of the best match, from `retrieval.trust_floor` to 1, by scores
without recency and energy, which do not depend on the question:

    lead  = (best - second) / best
    trust = trust_floor + (1 - trust_floor) * min(1, lead / FULL_TRUST_LEAD)

With `switches.keep_best_first` the best matches keep their ranks: the best one, and those whose score is lower by at
most `BEST_MARGIN` times the best score. Activation lifts no other memory above them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig

Values = NDArray[np.float64]

FULL_TRUST_LEAD = 0.2
"""Lead of the best match over the second, as a share of its score, from which all activation counts."""
BEST_MARGIN = 0.04
"""Memories this close to the best match, as a share of its score, keep their rank."""


def trust_in_graph(best: Values, config: MemoryConfig) -> float:
    """Return the share of the spread activation that counts, 0–1.

    Args:
        best: scores of the best match and of the second, if there is one, without activation, recency and energy, (1,)
            or (2,).
        config: its `retrieval.trust_floor` and `SIMILARITY_WEIGHT` count.
    """
    if not config.SIMILARITY_WEIGHT:
        # Without similarity no match is the best.
        return 1.0
    first, second = float(best[0]), float(best[1]) if best.size > 1 else 0.0
    lead = (first - second) / first if first > 0 else 0.0
    share = min(1.0, lead / FULL_TRUST_LEAD)
    return config.retrieval.trust_floor + (1.0 - config.retrieval.trust_floor) * share


def lifted_scores(base: Values, lift: Values, config: MemoryConfig) -> tuple[Values, Values]:
    """Return the sort keys of memories and their scores.

    Args:
        base: scores without activation (n,), at least one.
        lift: activation times its weight (n,).
        config: its `retrieval.switches.keep_best_first` counts.

    Returns:
        Two columns (n,). Both are the sum of `base` and `lift`, unless the best matches keep their ranks. Then these
        rank before all others by their scores without activation. If a sum is higher than the lowest of them, the sums
        above the best score without activation of the others are scaled to end there, so that they stay apart.
    """
    lifted = base + lift
    if not (config.retrieval.switches.keep_best_first and config.SIMILARITY_WEIGHT):
        return lifted, lifted
    best = base.max()
    first = base >= best - BEST_MARGIN * abs(best)
    least = base[first].min()
    # The best matches rank above all others, in the order of their scores.
    order = np.where(first, base - least + max(0.0, float(lifted.max())) + 1.0, lifted)
    return order, np.where(
        first, base, lifted if first.all() else _scaled(lifted, base[~first].max(), lifted[~first].max(), least)
    )


def _scaled(values: Values, begin: float, end: float, least: float) -> Values:
    """Return the values with those between `begin` and `end` scaled to end at `least`, if they end above it."""
    if end <= least:
        return values
    return np.where(values > begin, begin + (values - begin) * ((least - begin) / (end - begin)), values)
