"""Uses by one user change nothing that another user recalls."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, Recall
from neurogated.compose import build
from neurogated.testing import ManualClock

TEXTS = [f"The {place} opens at {hour}." for place in ("pool", "museum", "bakery", "library") for hour in (7, 9)]
QUESTIONS = ["When does the pool open?", "museum", "What opens at 9?", "Is the bakery open?"]


def scores(recall: Recall) -> list[tuple[str, float, dict[str, float]]]:
    return [(memory.id, memory.score, dict(memory.parts)) for memory in recall]


def history(seed: int, *, ben: bool) -> list[object]:
    """Return what Ana recalls in a random history, with or without the calls of Ben."""
    chance, clock, seen = random.Random(seed), ManualClock(), list[object]()
    config = MemoryConfig(storage="memory", embedding_name="hash", RECENCY_WEIGHT=0.2)
    with NeuroGraphMemory(config, parts=build(config, clock=clock)) as memory:
        for place, text in enumerate(TEXTS):
            memory.add(text, user_id=(None, "ana", None, "ben")[place % 4], id=f"m{place}")
        for _ in range(12):
            user, question = chance.choice(("ana", "ben")), chance.choice(QUESTIONS)
            call = chance.choice((memory.recall, memory.get_context))
            clock.advance(timedelta(days=chance.choice((0, 1, 40))))
            if chance.random() < 0.3:
                memory.maintenance()
            # The log is also written when it is due, by any recall.
            memory.learning.flush()
            if user == "ana":
                seen.append(scores(memory.recall(question, user_id=user)))
                call(question, user_id=user)
            elif ben:
                call(question, user_id=user)
        memory.learning.flush()
        seen += [(node.id, node.uses, node.charge, node.base_energy) for node in memory.list(user_id="ana")]
    return seen


@pytest.mark.parametrize("seed", range(10))
def test_uses_of_one_user_change_no_score_of_another(seed: int) -> None:
    assert history(seed, ben=True) == history(seed, ben=False)
