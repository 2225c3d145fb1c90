"""The order of ranked memories, the trust in the graph, and what a recall waits for."""

import threading

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from neurogated import GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.view import best_places
from neurogated.errors import LLMError
from neurogated.retrieval.formula import Formula
from neurogated.retrieval.question_kinds import PromptJudge
from neurogated.retrieval.ranking import BEST_MARGIN, FULL_TRUST_LEAD, lifted_scores, trust_in_graph

# The trust in the graph matches plain Python and changes the ranking


quarters = st.integers(-16, 32).map(lambda n: n / 16)
shares = st.integers(0, 4).map(lambda n: n / 4)


def _slow_trust(scores: list[float], floor: float, lead: float) -> float:
    """Return the trust by its formula."""
    best, *others = sorted(scores, reverse=True)
    ahead = 0.0 if best <= 0 else (best - (others[0] if others else 0.0)) / best
    if ahead >= lead:
        return 1.0
    return floor + (1 - floor) * ahead / lead


@given(st.lists(quarters, min_size=1, max_size=6), shares)
def test_trust_grows_with_the_lead_of_the_best_match(scores: list[float], floor: float) -> None:
    trust = trust_in_graph(sorted(scores, reverse=True)[:2], MemoryConfig(), Formula(trust_floor=floor))
    assert trust == pytest.approx(_slow_trust(scores, floor, FULL_TRUST_LEAD))
    assert floor <= trust <= 1


@given(st.lists(st.tuples(quarters, shares), min_size=1, max_size=8))
def test_activation_lifts_nothing_above_the_best_matches(memories: list[tuple[float, float]]) -> None:
    base, lift = (np.array(column) for column in zip(*memories, strict=True))
    order, score = lifted_scores(base, lift, MemoryConfig())
    places = range(len(memories))
    best = [place for place in places if base[place] >= max(base) - BEST_MARGIN * abs(max(base))]
    others = [place for place in places if place not in best]
    kept = sorted(best, key=lambda place: -base[place])
    ranked = [*kept, *sorted(others, key=lambda place: -(base[place] + lift[place]))]
    assert np.argsort(-order, kind="stable").tolist() == ranked
    assert all(score[place] == base[place] for place in best)
    sums, least = base + lift, base[kept[-1]]
    assert all(score[place] <= min(least, sums[place]) + 1e-9 for place in others)
    if all(sums[place] <= least for place in others):
        assert all(score[place] == sums[place] for place in others)
    for one in others:
        assert all((score[one] > score[two]) == (sums[one] > sums[two]) for two in others)
    assert [score[place] for place in ranked] == sorted(score, reverse=True)


def test_an_exact_repeat_scores_about_1_beside_any_other_memory() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        texts = ["The heron stood by the stone.", "Bo Kray met Ada Quill at the light.", "A lamp burnt all night."]
        for text in texts:
            memory.add(text)
        memory.add("A keeper of the light.", title="Ada Quill")
        for text in texts:
            best = memory.recall(text)[0]
            assert best.content == text
            assert best.score - best.contributions["energy"] == pytest.approx(1.0, abs=0.02)
        recall = memory.recall("Ada Quill", top_n=9)
        assert all(one.score - one.contributions["energy"] <= 1.0 + 1e-9 for one in recall)
        assert memory.recall("Which lorry came?")[0].score < 0.6


# The order of ranked memories


NAMES = [f"n{number}" for number in range(12)]
STORE = GraphStore()
STORE.apply(GraphDelta(nodes=tuple(MemoryNode(name, name) for name in reversed(NAMES))))


@given(st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, 1.0]), max_size=len(NAMES)), st.integers(0, 14))
def test_the_best_come_first_and_equal_ones_in_order_of_id(scores: list[float], count: int) -> None:
    view = STORE.view()
    rows, values = np.arange(len(scores)), np.array(scores)
    expected = sorted(range(len(scores)), key=lambda place: (-scores[place], view.ids[place]))[:count]
    assert best_places(view, rows, values, count) == expected


# The threads of recalls


# A model that judges questions has a deadline


class Fixed:
    """Gives one judgement when the test allows it."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:  # noqa: ARG002
        self.may_answer.wait(30)
        return QuestionJudgement(QuestionKind.WHEN, 1.0, "fixed")


def test_a_model_that_is_late_is_not_waited_for_and_one_in_time_judges() -> None:
    model = Fixed()
    with pytest.raises(LLMError):
        PromptJudge(model, deadline=0.01).judge("Why?")
    model.may_answer.set()
    assert PromptJudge(model, deadline=30).judge("Why?").kind is QuestionKind.WHEN
