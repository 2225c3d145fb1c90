"""The order of ranked memories, the trust in the graph, the confidence of a recall, and dormant memories."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory, NeuroRetriever
from neurogated.core.judgements import QuestionKind
from neurogated.core.view import best_places
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.retrieval.dormancy import Admission
from neurogated.retrieval.formula import Formula
from neurogated.retrieval.kernel_generator import LLMQuestionJudge, UniformKernelSource
from neurogated.retrieval.ranking import (
    BEST_MARGIN,
    EMBEDDER,
    FULL_TRUST_LEAD,
    Evidence,
    confidence,
    lifted_scores,
    trust_in_graph,
)
from neurogated.testing import ManualClock
from tests.retrieval.compass import Compass

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


class Slow:
    """Gives one answer when the test allows it."""

    name = "slow"

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def infer_json(self, *_: object, **__: object) -> dict[str, Any]:
        self.may_answer.wait(30)
        return {"kind": "when", "strength": "strong", "reason": "fixed"}

    def close(self) -> None:
        """Nothing is open."""


def test_a_model_that_is_late_is_not_waited_for_and_one_in_time_judges() -> None:
    model, prompts, config = Slow(), PromptTemplateManager(), MemoryConfig()
    with pytest.raises(LLMError):
        LLMQuestionJudge(model, prompts, config, deadline=0.01).judge("Why?")
    model.may_answer.set()
    assert LLMQuestionJudge(model, prompts, config, deadline=30).judge("Why?").kind is QuestionKind.WHEN


_SAID = [
    "My dog is called Biscuit and he is scared of the stairs.",
    "My boss Willem wants the berth planning report by the 14th.",
    "I started pottery on Tuesday evenings, the teacher is called Femke.",
    "The rent goes up to 1,340 euros from January.",
    "Bought tickets for the concert on 3 May in Amsterdam.",
    "I can't stand coriander, it tastes like soap to me.",
]
_shares = st.floats(0, 1)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path_factory.mktemp("memory")))) as memory:
        for text in _SAID:
            memory.add({"role": "user", "content": text}, user_id="ines")
        memory.freeze()
        yield memory


def test_questions_that_were_answered_have_more_confidence(memory: NeuroGraphMemory) -> None:
    said = ["What is my dog called?", "When is the planning report due?", "How much is the rent from January?"]
    never = ["What is my mother's name?", "Which bank do I use?", "Where did I go to university?"]
    sure = [[memory.recall(one, user_id="ines").confidence for one in group] for group in (said, never)]
    assert min(sure[0]) > max(sure[1])
    assert all(0 < one < 1 for group in sure for one in group)


def test_below_the_minimum_confidence_nothing_is_recalled_or_used(memory: NeuroGraphMemory) -> None:
    question = "What is my mother's name?"
    usual = memory.recall(question, user_id="ines")
    unsure = memory.recall(question, user_id="ines", min_confidence=0.9)
    assert usual.memories
    assert unsure.confidence == usual.confidence < 0.9
    assert (unsure.ids, dict(unsure.access.nodes), unsure.as_text()) == ((), {}, "")
    assert any("confidence" in note for note in unsure.notes)
    context = memory.get_context(question, user_id="ines", min_confidence=0.9, min_score=-1.0)
    assert (context.text, context.memories, context.confidence) == ("", (), unsure.confidence)
    assert any("confidence" in note for note in context.notes)
    sure = memory.recall("What is my dog called?", user_id="ines", min_confidence=0.5)
    assert sure[0].content == _SAID[0]


@given(st.tuples(_shares, _shares, _shares, _shares), st.integers(0, 3), _shares, st.sampled_from([EMBEDDER, "other"]))
def test_more_evidence_never_lowers_the_confidence(
    values: tuple[float, ...], place: int, gain: float, embedder: str
) -> None:
    more = list(values)
    more[place] += gain
    low, high = (confidence(Evidence(*each), embedder) for each in (values, more))
    assert 0 <= low <= high <= 1


def test_one_memory_of_another_thing_gives_little_confidence(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path))) as memory:
        memory.add({"role": "user", "content": "The boiler man is coming Thursday."})
        other, same = (
            memory.recall(one).confidence for one in ("What is my blood type?", "When comes the boiler man?")
        )
    assert other < 0.5 < same
    assert np.isfinite(other)


SLEEPY: dict[str, Any] = {"importance": 0.1, "base_energy": 0.01}


def _store(clock: ManualClock, **nodes: tuple[list[float], dict[str, Any]]) -> GraphStore:
    store = GraphStore(clock=clock)
    for name, (vector, fields) in nodes.items():
        times = {"created_at": clock(), "last_accessed": clock()}
        store.add_node(MemoryNode(name, f"text of {name}", embedding=vector, **{**times, **fields}))
    clock.advance(timedelta(days=60))
    return store


def _retriever(store: GraphStore, clock: ManualClock, **changes: object) -> NeuroRetriever:
    config = MemoryConfig().replace(**{"retrieval.energy_weight": 0.0, **changes})
    return NeuroRetriever(store, config, embedder=Compass(), kernel_source=UniformKernelSource(), clock=clock)


@pytest.mark.parametrize("mode", ["gated", "classic"])
def test_a_dormant_memory_ranks_below_an_awake_one_that_fits_as_well_and_above_others(
    clock: ManualClock, mode: str
) -> None:
    store = _store(clock, asleep=([1.0, 0.0], SLEEPY), near=([0.99, 0.14], {}), far=([0.5, 0.87], {}))
    retriever = _retriever(store, clock, ACTIVATION=mode)
    for later in (0, 1):
        assert retriever.recall("1 0", now=clock() + timedelta(days=later)).ids == ("near", "asleep", "far")
    ranked = ("asleep", "near", "far")
    assert retriever.recall("1 0", include_dormant=True).ids == ranked
    assert retriever.recall("1 0", as_of=store.view().sequence).ids == ranked
    assert retriever.recall("1 0", now=clock() - timedelta(days=50)).ids == ranked


def test_a_memory_loses_in_proportion_to_the_energy_that_it_lacks(clock: ManualClock) -> None:
    energies = {"none": 1e-9, "little": 0.06, "more": 0.12}
    nodes = {name: ([1.0, 0.0], {"importance": 0.1, "base_energy": energy}) for name, energy in energies.items()}
    store = _store(clock, **nodes)
    recall = _retriever(store, clock).recall("1 0")
    assert recall.ids == ("more", "little", "none")
    lost = {one.id: -one.contributions["dormant"] / one.parts["similarity"] for one in recall}
    left = 2 ** -(60 / MemoryConfig().metabolism.half_life_of_kinds[""])
    for name, energy in energies.items():
        assert lost[name] == pytest.approx(0.1 * (1 - energy * left / 0.1), abs=1e-6)
    for one in recall:
        assert sum(one.contributions.values()) == pytest.approx(one.score)


def test_a_dormant_memory_counts_as_awake_if_an_awake_one_says_the_same(clock: ManualClock) -> None:
    store = _store(clock, asleep=([1.0, 0.0], SLEEPY), again=([1.0, 0.0], {}), near=([0.99, 0.14], {}))
    store.add_edge("again", "asleep", EdgeType.SAME_AS, 1.0)
    assert _retriever(store, clock).recall("1 0").ids == ("asleep", "near")


@pytest.mark.parametrize("mode", ["gated", "classic"])
def test_activation_passes_through_dormant_memories(clock: ManualClock, mode: str) -> None:
    store = _store(clock, anchor=([1.0, 0.0], {}), asleep=([0.0, 1.0], SLEEPY), behind=([0.0, 1.0], {}))
    store.add_edge("anchor", "asleep", EdgeType.SEQ, 1.0)
    store.add_edge("asleep", "behind", EdgeType.SEQ, 1.0)
    recall = _retriever(store, clock, ACTIVATION=mode, TOP_K_ANCHORS=1).recall("1 0")
    assert set(recall.ids) == {"anchor", "asleep", "behind"}


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(1, 9))
@run(deadline=None)
def test_the_best_results_are_those_of_a_complete_search_without_repeats(fronts: list[int], count: int) -> None:
    clock = ManualClock()
    store = _store(clock, **{f"n{n:02}": ([1.0, n / 100], {}) for n in range(len(fronts))})
    shown = []
    for row, front in enumerate(fronts):
        if front < row and front in shown:
            store.add_edge(f"n{row:02}", f"n{front:02}", EdgeType.SAME_AS, 1.0)
        else:
            shown.append(row)
    rows = np.arange(len(fronts))

    def search(depth: int) -> tuple[Any, Any]:
        return rows[:depth], -rows[:depth].astype(np.float64)

    found, scores = Admission(store.view(), 0, groups=True).best(count, search)
    assert found.tolist() == shown[:count] == (-scores).tolist()
