"""Ranking: the memories of a recall, their order, and their reasons."""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryNode, Recall
from neurogated.core.found import Found
from neurogated.core.rendering import TIME
from neurogated.errors import InputError
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.testing import ManualClock
from tests.retrieval.compass import Compass


def _retriever(store: GraphStore, formula: Formula = FORMULA, **settings: object) -> NeuroRetriever:
    config = MemoryConfig().replace(**settings)
    return NeuroRetriever(store, config, embedder=Compass(), kernel_source=UniformKernelSource(), formula=formula)


@pytest.fixture
def store() -> GraphStore:
    """`near` answers the question, `linked` is unlike it but follows `near`, and `other` is between them."""
    store = GraphStore()
    for name, vector in {"near": [1.0, 0.0], "other": [0.6, 0.8], "linked": [0.3, 0.954], "far": [0.0, 1.0]}.items():
        store.add_node(MemoryNode(id=name, content=f"about {name}", embedding=vector))
    store.add_edge("near", "linked", EdgeType.SEQ, 1.0)
    return store


def test_a_recall_changes_nothing(store: GraphStore) -> None:
    before = store.view().sequence
    first = _retriever(store).recall("1 0")
    assert store.view().sequence == before
    again = _retriever(store).recall("1 0")
    assert first.memories == again.memories


class _Timely:
    """A kernel that asks for a time."""

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel:
        assert query
        assert vector is not None
        return Kernel({EdgeType.SEQ: 2.0}, "timely", tags={TIME: 0.5})


words = st.lists(st.sampled_from(["1", "0", "heron", "stone"]), max_size=3).map(" ".join)
vectors = st.sampled_from([None, [1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
described: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"title": "0"}, {"speaker": "1 0"}, {"found": Found(times=["today"])}]
)
drawn_nodes = st.lists(st.tuples(words, vectors, described, st.integers(0, 90)), min_size=1, max_size=8)
quarters = st.integers(0, 8).map(lambda n: n / 4)
weightings = st.fixed_dictionaries(
    dict.fromkeys(
        (
            *("SIMILARITY_WEIGHT", "ACTIVATION_WEIGHT", "RECENCY_WEIGHT"),
            *("retrieval.energy_weight", "retrieval.keyword_weight"),
        ),
        quarters,
    )
)


def _attainable(recall: Recall, config: MemoryConfig, formula: Formula) -> float:
    """Return the highest possible base score of the best memory that a search finds; spreading finds the others."""
    weights = {
        "keywords": config.retrieval.keyword_weight,
        "subject": formula.subject_weight,
        "tags": formula.tag_weight,
    }

    def likeness(parts: Mapping[str, float]) -> float:
        return parts["cosine"] + sum(weight * parts[name] for name, weight in weights.items())

    searched = [one for one in recall if one.node.embedding is not None or one.parts["keywords"]]
    if not searched:
        return 1.0
    best = max((memory.parts for memory in sorted(searched, key=lambda one: one.id)), key=likeness)
    has_keywords = any(memory.parts["keywords"] for memory in recall)
    return 1 + sum(weight * (best[name] if name != "keywords" else has_keywords) for name, weight in weights.items())


@given(drawn_nodes, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7))), weightings, quarters, quarters)
def test_score_and_similarity_are_the_settings_weighted_sums_of_the_parts(
    drawn: list[tuple[str, list[float] | None, dict[str, Any], int]],
    links: list[tuple[int, int]],
    weights: dict[str, float],
    subject: float,
    tag: float,
) -> None:
    clock, store = ManualClock(), GraphStore()
    for number, (content, vector, about, days) in enumerate(drawn):
        used = clock() - timedelta(days=days)
        store.add_node(MemoryNode(f"n{number}", content, embedding=vector, **about, last_accessed=used))
    for source, target in links:
        if source != target and max(source, target) < len(drawn):
            store.add_edge(f"n{source}", f"n{target}", EdgeType.SEQ, 0.5)
    formula = Formula(keep_best_first=False, keywords_for_like_vectors=False, subject_weight=subject, tag_weight=tag)
    config = MemoryConfig().replace(**weights)
    retriever = NeuroRetriever(store, config, embedder=Compass(), kernel_source=_Timely(), clock=clock, formula=formula)
    recall = retriever.recall("1 0", top_n=20)
    total = _attainable(recall, config, formula)
    for memory in recall:
        parts = memory.parts
        likeness = parts["cosine"] + config.retrieval.keyword_weight * parts["keywords"]
        likeness += formula.subject_weight * parts["subject"] + formula.tag_weight * parts["tags"]
        assert parts["similarity"] == pytest.approx(min(1.0, likeness / total))
        score = config.SIMILARITY_WEIGHT * parts["similarity"] + config.ACTIVATION_WEIGHT * parts["activation"]
        score += config.RECENCY_WEIGHT * parts["recency"] + config.retrieval.energy_weight * parts["energy"]
        assert memory.score == pytest.approx(score)
        assert parts["energy"] == pytest.approx(1.0 if config.retrieval.energy_weight else 0.0)
        idle = (clock() - memory.node.last_accessed) / timedelta(days=1)
        assert parts["recency"] == pytest.approx(0.5 ** (idle / 30) if config.RECENCY_WEIGHT else 0.0)
        assert parts["tags"] == 0.5 * bool(memory.node.found.times)
    assert [(m.score, m.id) for m in recall] == [
        (m.score, m.id) for m in sorted(recall, key=lambda m: (-m.score, m.id))
    ]
    assert retriever.recall("1 0", top_n=20).memories == recall.memories
    for count in (1, 3):
        assert retriever.recall("1 0", top_n=count).ids == recall.ids[:count]


@given(
    drawn_nodes,
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([EdgeType.SEQ, EdgeType.CAUSE]))),
    weightings,
    st.sampled_from(["gated", "classic"]),
    st.booleans(),
)
def test_contributions_add_up_to_the_score_and_flows_to_the_activation(
    drawn: list[tuple[str, list[float] | None, dict[str, object], int]],
    links: list[tuple[int, int, EdgeType]],
    weights: dict[str, float],
    mode: str,
    keeps: bool,  # noqa: FBT001 - drawn
) -> None:
    store = GraphStore()
    for number, (content, vector, about, _) in enumerate(drawn):
        store.add_node(MemoryNode(f"n{number}", content, embedding=vector, **about))  # type: ignore[arg-type]
    for source, target, kind in links:
        if source != target and max(source, target) < len(drawn):
            store.add_edge(f"n{source}", f"n{target}", kind, 0.5)
    formula = Formula(keep_best_first=keeps)
    recall = _retriever(store, formula, ACTIVATION=mode, TOP_K_ANCHORS=3, **weights).recall("1 0", top_n=3)
    starts = {*recall.ids, *dict(recall.anchors)}
    assert set(recall.relays) == {flow.source_id for memory in recall for flow in memory.flows} - starts
    assert all(flow.target_id == name for name, flows in recall.relays.items() for flow in flows)
    assert all(recall.relays.values())
    for memory in recall:
        assert math.fsum(memory.contributions.values()) == pytest.approx(memory.score, rel=1e-9, abs=1e-9)
        arrived = math.fsum(flow.flow for flow in memory.flows)
        assert arrived == pytest.approx(memory.parts["activation"], rel=1e-9, abs=1e-9)
        assert all(flow.target_id == memory.id and flow.flow > 0 for flow in memory.flows)
        weight = 1.0 if mode == "classic" else weights["ACTIVATION_WEIGHT"]
        assert memory.contributions["activation"] == pytest.approx(weight * arrived)
        assert set(memory.contributions) == (
            {"start", "activation", "dormant"}
            if mode == "classic"
            else {"similarity", "activation", "recency", "energy", "time", "dormant", "held_back"}
        )
        held_back = memory.contributions.get("held_back", 0.0)
        assert held_back <= 0.0 if keeps else held_back == 0.0
        if memory.path:
            last = max(memory.path[-1:], key=lambda step: step.flow)
            assert any(flow.edge == last.edge and flow.flow >= last.flow * (1 - 1e-9) for flow in memory.flows)


def test_a_recall_leaves_out_named_memories_and_no_activation_flows_through_them(store: GraphStore) -> None:
    retriever = _retriever(store, TOP_K_ANCHORS=1)
    (flow,) = (step for one in retriever.recall("1 0", top_n=4) for step in one.flows if one.id == "linked")
    assert flow.source_id == "near"
    recall = retriever.recall("1 0", top_n=4, except_ids=["near", "unknown"])
    assert "near" not in recall.ids
    assert [name for name, _ in recall.anchors] == ["other"]
    assert {step.source_id for one in recall for step in one.flows}.isdisjoint({"near"})
    with pytest.raises(InputError):
        retriever.recall("1 0", except_ids="near")
