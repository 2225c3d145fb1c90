"""Dormant memories compete in one search with what their energy leaves them, and energy counts for the score."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run

from neurogated import EdgeType, GraphStore, MemoryConfig, MemoryNode, NeuroRetriever
from neurogated.retrieval.dormancy import Admission
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.testing import ManualClock
from tests.retrieval.compass import Compass

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
