"""How far to trust the graph on one question.

Activation starts from the memories most similar to the question. If one of them stands out, activation starts from the
right place and its neighbours are worth finding. If several are about as good, the graph leads away from any of them.
So trust grows with the lead of the best match, from `TRUST_FLOOR` to 1, which it reaches at `TRUST_LEAD`:

    lead  = (best - second) / best
    trust = TRUST_FLOOR + (1 - TRUST_FLOOR) * min(1, lead / TRUST_LEAD)

With `KEEP_BEST_FIRST` the best matches keep their places, whatever the graph says: activation lifts no other memory
above the best match, nor above those that are at most `BEST_MARGIN` below it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig

__all__ = ["lifted_scores", "trust_in_graph"]

Values = NDArray[np.float64]


def trust_in_graph(best: Values, config: MemoryConfig) -> float:
    """Return the share of the spread activation that counts, 0–1.

    Args:
        best: scores without activation of the best match and, if there is one, of the second best, (1,) or (2,).
        config: `TRUST_FLOOR` and `TRUST_LEAD` count.
    """
    if not config.SIMILARITY_WEIGHT:
        # Nothing says then which match is the best.
        return 1.0
    first, second = float(best[0]), float(best[1]) if best.size > 1 else 0.0
    lead = (first - second) / first if first > 0 else 0.0
    share = min(1.0, lead / config.retrieval.trust_lead) if config.retrieval.trust_lead else 1.0
    return config.retrieval.trust_floor + (1.0 - config.retrieval.trust_floor) * share


def lifted_scores(base: Values, lift: Values, config: MemoryConfig) -> tuple[Values, Values]:
    """Return what memories are ranked by, and their scores.

    Args:
        base: scores without activation (n,), at least one.
        lift: activation times its weight (n,).
        config: `KEEP_BEST_FIRST` and `BEST_MARGIN` count.

    Returns:
        Two columns (n,). They are the same sum, unless the best matches keep their places: then these are ranked before
        all others, by their scores without activation, and no other score is above theirs.
    """
    lifted = base + lift
    if not (config.retrieval.switches.keep_best_first and config.SIMILARITY_WEIGHT):
        return lifted, lifted
    best = base.max()
    kept = base >= best - config.retrieval.best_margin * abs(best)
    least = base[kept].min()
    # Above all others, and among themselves in their own order.
    order = np.where(kept, base - least + max(0.0, float(lifted.max())) + 1.0, lifted)
    return order, np.where(kept, base, np.minimum(lifted, least))
