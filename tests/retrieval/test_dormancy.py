"""Dormant memories leave the default recall, and energy counts for the score."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run

from neurogated import EdgeType, GraphStore, MemoryConfig, MemoryNode, NeuroRetriever
from neurogated.core.delta import Access, Charge, GraphDelta
from neurogated.core.energy import EnergyLaw
from neurogated.retrieval.dormancy import Admission
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import WOKEN
from neurogated.testing import ManualClock
from tests.retrieval.compass import Compass

DEAF = {"metabolism.wake_factor": 0.0}
SLEEPY: dict[str, Any] = {"importance": 0.1, "base_energy": 0.01}


def _store(clock: ManualClock, **nodes: tuple[list[float], dict[str, Any]]) -> GraphStore:
    store = GraphStore(clock=clock)
    for name, (vector, fields) in nodes.items():
        times = {"created_at": clock(), "last_accessed": clock()}
        store.add_node(MemoryNode(name, f"text of {name}", embedding=vector, **{**times, **fields}))
    clock.advance(timedelta(days=60))
    return store


def _retriever(store: GraphStore, clock: ManualClock, **changes: object) -> NeuroRetriever:
    config = MemoryConfig().replace(**changes)
    return NeuroRetriever(store, config, embedder=Compass(), kernel_source=UniformKernelSource(), clock=clock)


def test_a_default_recall_leaves_dormant_memories_out_and_an_option_finds_them(clock: ManualClock) -> None:
    store = _store(clock, asleep=([1.0, 0.0], SLEEPY), awake=([0.9, 0.4], {}))
    retriever = _retriever(store, clock, **DEAF)
    recall = retriever.recall("1 0")
    assert (recall.ids, recall.notes) == (("awake",), ())
    assert retriever.recall("1 0", include_dormant=True).ids == ("asleep", "awake")
    assert retriever.recall("1 0", as_of=store.view().sequence).ids == ("asleep", "awake")
    assert retriever.recall("1 0", now=clock() - timedelta(days=50)).ids == ("asleep", "awake")
    assert store.get_node("asleep").id == "asleep"


@pytest.mark.parametrize("mode", ["gated", "classic"])
def test_activation_passes_through_dormant_memories_and_stops_at_none_of_them(clock: ManualClock, mode: str) -> None:
    store = _store(clock, anchor=([1.0, 0.0], {}), asleep=([0.0, 1.0], SLEEPY), behind=([0.0, 1.0], {}))
    store.add_edge("anchor", "asleep", EdgeType.SEQ, 1.0)
    store.add_edge("asleep", "behind", EdgeType.SEQ, 1.0)
    recall = _retriever(store, clock, ACTIVATION=mode, TOP_K_ANCHORS=1, **DEAF).recall("1 0")
    assert set(recall.ids) == {"anchor", "behind"}


def test_a_recall_that_finds_nothing_good_wakes_dormant_memories_and_says_so(clock: ManualClock) -> None:
    store = _store(clock, asleep=([1.0, 0.0], SLEEPY), awake=([0.3, 0.95], {}))
    recall = _retriever(store, clock).recall("1 0")
    assert recall.ids == ("asleep", "awake")
    assert recall.notes == (WOKEN,)
    contented = _retriever(store, clock, **DEAF, **{"metabolism.wake_score": 0.1}).recall("1 0")
    assert (contented.ids, contented.notes) == (("awake",), ())


def test_a_dormant_memory_that_fits_better_than_all_awake_ones_wakes_the_recall(clock: ManualClock) -> None:
    store = _store(clock, asleep=([1.0, 0.0], SLEEPY), near=([0.99, 0.14], {}), far=([0.8, 0.6], {}))
    found = {
        share: _retriever(
            store,
            clock,
            **{"metabolism.wake_factor": share, "metabolism.wake_score": 0.0, "metabolism.wake_share": 0.0},
            **{"retrieval.energy_weight": 0.0},
        ).recall("1 0")
        for share in (0.0, 0.9, 1.05)
    }
    assert [recall.ids for recall in found.values()] == [("near", "far"), ("near", "far"), ("asleep", "near", "far")]
    assert [recall.notes for recall in found.values()] == [(), (), (WOKEN,)]


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 9), st.sampled_from([1.0, 1.7, 30.0]))
@run(deadline=None)
def test_the_best_awake_results_are_those_of_a_complete_search(asleep: list[bool], count: int, deeper: float) -> None:
    clock = ManualClock()
    nodes = {f"n{n:02}": ([1.0, n / 100], SLEEPY if sleeps else {}) for n, sleeps in enumerate(asleep)}
    view = _store(clock, **nodes).view()
    now = int(view.energy_at.all().max(initial=0)) + 60 * 86_400_000_000
    rows = np.arange(len(asleep))
    calls: list[int] = []

    def search(depth: int) -> tuple[Any, Any]:
        calls.append(depth)
        return rows[:depth], -rows[:depth].astype(np.float64)

    admission = Admission(view, EnergyLaw(MemoryConfig().metabolism), now, deeper)
    found, scores = admission.best(count, search)
    expected = [row for row, sleeps in enumerate(asleep) if not sleeps][:count]
    assert found.tolist() == expected == (-scores).tolist()
    # Each repeated search goes at least a quarter deeper, so all of them cost a multiple of the last.
    assert all(later >= 1.25 * before for before, later in pairwise(calls))


def test_a_recall_has_the_same_scores_all_day_and_uses_do_not_change_them(clock: ManualClock) -> None:
    clock.now = clock.now.replace(hour=0, minute=0)
    store = _store(clock, first=([1.0, 0.0], {}), second=([0.9, 0.1], {"base_energy": 0.5}))
    retriever = _retriever(store, clock)
    clock.now = clock.now.replace(hour=0, minute=0)
    morning = retriever.recall("1 0")
    store.apply(GraphDelta(touch=Access(charges={"second": Charge(0.5, clock.now)})))
    clock.now += timedelta(hours=23, minutes=59)
    evening = retriever.recall("1 0")
    assert [(one.id, one.score, one.parts) for one in evening] == [(one.id, one.score, one.parts) for one in morning]
    clock.now += timedelta(minutes=1)
    assert all(later.score < one.score for later, one in zip(retriever.recall("1 0"), morning, strict=True))
