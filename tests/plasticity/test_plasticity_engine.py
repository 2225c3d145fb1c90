"""LTP and LTD, and that uses by one user change nothing that another recalls."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager
from datetime import timedelta
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from neurogated import (
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
    Recall,
)
from neurogated.plasticity import plasticity_engine
from neurogated.plasticity.plasticity_engine import ASSOC_WEIGHT, PlasticityEngine
from neurogated.session.compose import build
from neurogated.testing import ManualClock

# LTP and LTD: growth, fading, and constants


pytestmark = pytest.mark.usefixtures("small_overlay")

NAMES = "abcdef"
KEYS = st.builds(
    EdgeKey,
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from([EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE]),
).filter(lambda key: key.source_id != key.target_id)


def _store(edges: dict[EdgeKey, float], clock: ManualClock) -> GraphStore:
    store = GraphStore(clock=clock)
    nodes = tuple(MemoryNode(id=name, content=name) for name in NAMES)
    put = tuple(MemoryEdge(*key, weight=weight, created_at=clock()) for key, weight in edges.items())
    store.apply(GraphDelta(nodes=nodes, edges=put, at=clock()))
    return store


def _weights(store: GraphStore) -> dict[EdgeKey, float]:
    return {edge.key: edge.weight for edge in store.all_edges()}


def _bounded(bound: float) -> AbstractContextManager[object]:
    return patch.object(plasticity_engine, "MAX_OUT_WEIGHT", bound)


def _key(source: str, target: str, kind: EdgeType = EdgeType.SEQ) -> EdgeKey:
    return EdgeKey(source, target, kind)


@given(
    st.dictionaries(KEYS, st.floats(0.1, 1.0), max_size=15),
    st.lists(st.sampled_from(NAMES), unique=True),
    st.floats(0.5, 4.0),
)
@settings(deadline=None)
def test_reinforcement_equals_its_formula(edges: dict[EdgeKey, float], used: list[str], bound: float) -> None:
    clock = ManualClock()
    store = _store(edges, clock)
    with _bounded(bound):
        PlasticityEngine(store, MemoryConfig(), clock).reinforce_path(used)
    expected = dict(edges)
    among = {key for key in edges if key.type.plastic and {key.source_id, key.target_id} <= set(used)}
    for key in among:
        expected[key] = min(1.0, expected[key] + 0.1)
    for source in {key.source_id for key in among}:
        leaving = [key for key in edges if key.source_id == source and key.type.plastic]
        total = sum(expected[key] for key in leaving)
        if total > bound:
            expected.update((key, expected[key] * bound / total) for key in leaving)
    assert _weights(store) == pytest.approx(expected)
    assert {k: w for k, w in _weights(store).items() if k.type is EdgeType.SIM} == {
        k: w for k, w in edges.items() if k.type is EdgeType.SIM
    }


def test_a_failure_removes_an_edge_that_falls_below_the_least_weight() -> None:
    clock, key = ManualClock(), _key("a", "b")
    store = _store({key: 0.45}, clock)
    engine = PlasticityEngine(store, MemoryConfig(MIN_EDGE_WEIGHT=0.3, HEBBIAN_LEARNING_RATE=0.1), clock)
    engine.reinforce_path("ab", outcome=-1.0)
    assert _weights(store) == {key: pytest.approx(0.35)}
    engine.reinforce_path("ab", outcome=-1.0)
    assert _weights(store) == {}


def test_confirmed_pairs_without_a_plastic_edge_are_associated_once(clock: ManualClock) -> None:
    store = _store({_key("a", "b"): 0.5, _key("b", "c", EdgeType.SIM): 0.5}, clock)
    engine = PlasticityEngine(store, MemoryConfig(), clock)
    assert engine.reinforce_path(["a", "b", "c"], associate=True) == 3
    new = {key: weight for key, weight in _weights(store).items() if key.type is EdgeType.ASSOC}
    assert new == {_key("a", "c", EdgeType.ASSOC): ASSOC_WEIGHT, _key("b", "c", EdgeType.ASSOC): ASSOC_WEIGHT}
    engine.reinforce_path(["c", "b", "a"], associate=True)
    grown = {key: weight for key, weight in _weights(store).items() if key.type is EdgeType.ASSOC}
    assert grown == pytest.approx(dict.fromkeys(new, ASSOC_WEIGHT + 0.1))


@given(st.lists(st.lists(st.sampled_from(NAMES), min_size=2, unique=True), max_size=40))
def test_strengthening_alone_cannot_blow_up(uses: list[list[str]]) -> None:
    clock = ManualClock()
    store = _store({_key(a, b): 0.5 for a in NAMES for b in NAMES if a != b}, clock)
    engine = PlasticityEngine(store, MemoryConfig(), clock)
    for used in uses:
        with _bounded(2.0):
            engine.reinforce_path(used, associate=True)
        for name in set(used):
            total = sum(edge.weight for _, edge in store.get_neighbors(name) if edge.type.plastic)
            assert total <= 2.0 + 1e-9


def test_edges_fade_with_the_days_and_not_with_the_looks_at_them() -> None:
    def faded(*visits: int) -> float:
        clock, key = ManualClock(), _key("a", "b")
        store = _store({key: 0.9}, clock)
        for days in visits:
            clock.advance(timedelta(days=days))
            PlasticityEngine(store, MemoryConfig(), clock).decay_unused()
        return _weights(store)[key]

    assert faded(30) == pytest.approx(faded(10, 20)) == pytest.approx(faded(5, 5, 20))
    assert faded(30) < faded(10) < 0.9


# Uses by one user change nothing that another user recalls


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
