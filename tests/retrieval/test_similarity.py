"""The similarity of a question and its parts matches plain Python over the same nodes."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from graph_store_kit.reads import keyword_search
from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryEdge, MemoryNode
from neurogated.core.found import Found
from neurogated.core.rendering import TIME
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.similarity import QuestionSimilarity
from neurogated.retrieval.turns import Samples
from neurogated.text.keywords import split_words

QUERIES = ["heron", "Did Ann see a heron in Lyon?", "Lyon stone stone", "Bo Li", "北京的鸟", "?!", "what is it"]


def vector(*numbers: float) -> NDArray[np.float32]:
    return np.array(numbers, dtype=np.float32)


def asked(
    store: GraphStore,
    query: str,
    towards: NDArray[np.float32],
    kernel: Kernel | None = None,
    *,
    keyword_weight: float = 0.4,
    formula: Formula = FORMULA,
) -> QuestionSimilarity:
    config = MemoryConfig(retrieval={"keyword_weight": keyword_weight})  # type: ignore[arg-type]
    samples = Samples(store.snapshot(), config, replace(formula, keywords_for_like_vectors=False))
    return QuestionSimilarity(samples, query=query, vector=towards, kernel=kernel or Kernel())


def filled(*nodes: MemoryNode) -> GraphStore:
    store = GraphStore()
    for node in nodes:
        store.add_node(node)
    return store


contents = st.lists(st.sampled_from(["heron", "stone", "Lyon", "the", "北京", "bird"]), max_size=5).map(" ".join)
vectors = st.sampled_from([None, [1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.8, 0.6], [0.0, 0.0]])
described: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "title": st.sampled_from(["Lyon", "Lyon (city)", "It", "北京"]),
        "speaker": st.sampled_from(["Ann", "Bo Li"]),
        "found": st.just(Found(times=["today"])),
    },
)
stores = st.lists(st.tuples(contents, vectors, described), max_size=8).map(
    lambda drawn: [MemoryNode(f"n{i}", text, embedding=v, **about) for i, (text, v, about) in enumerate(drawn)]
)
quarters = st.integers(0, 4).map(lambda n: n / 4)


def says(query: str, name: object) -> bool:
    """Return whether the question contains the words of a name consecutively."""
    wanted, words = split_words(str(name)), split_words(query)
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def reference(
    store: GraphStore, node: MemoryNode, query: str, towards: NDArray[np.float32], share: float
) -> dict[str, float]:
    length = np.linalg.norm(node.embedding) if node.embedding is not None else 0.0
    scores = dict(keyword_search(store, query, len(store)))
    title = (node.title or "It").removesuffix(" (city)")
    names = [name for name in (title, node.speaker) if name not in ("It", None)]
    return {
        "cosine": float(np.dot(node.embedding, towards) / length / np.linalg.norm(towards)) if length else 0.0,  # type: ignore[arg-type]
        "keywords": scores.get(node.id, 0.0) / max(scores.values(), default=1.0),
        "subject": float(any(says(query, name) for name in names)),
        "tags": share * bool(node.found.times),
    }


@given(stores, st.sampled_from(QUERIES), quarters, st.tuples(quarters, quarters, quarters), st.integers(1, 9))
def test_similarity_is_the_weighted_mean_of_its_parts(
    nodes: list[MemoryNode], query: str, share: float, weights: tuple[float, float, float], count: int
) -> None:
    store, towards = filled(*nodes), vector(0.8, 0.6)
    formula = Formula(subject_weight=weights[1], tag_weight=weights[2])
    similarity = asked(store, query, towards, Kernel(tags={TIME: share}), keyword_weight=weights[0], formula=formula)
    proposed = similarity.propose(count)
    sums, tops = [], []
    measured = similarity.of(store.view().live_nodes())
    for place, node in enumerate(store.all_nodes()):
        parts = reference(store, node, query, towards, share)
        parts = {name: value if not (name == "keywords" and weights[0] == 0) else 0.0 for name, value in parts.items()}
        parts["subject"] *= bool(weights[1])
        got = {name: float(getattr(measured, name)[place]) for name in parts}
        assert got == pytest.approx(parts, abs=1e-6)
        sums.append(sum(w * parts[n] for w, n in zip((1.0, *weights), parts, strict=True)))
        tops.append(1 + sum(w * parts[n] for w, n in zip(weights[1:], ("subject", "tags"), strict=True)))
        assert -1 - 1e-6 <= measured.similarity[place] <= 1 + 1e-6
        assert 0 <= measured.keywords[place] <= 1
    if any(row in proposed.rows for row in np.flatnonzero(np.isclose(sums, max(sums, default=0.0)))):
        # Its share is relative to the highest possible score. One of several tags is enough.
        has_keywords = weights[0] * bool(measured.keywords.any())
        totals = {
            round(top + has_keywords, 9) for total, top in zip(sums, tops, strict=True) if np.isclose(total, max(sums))
        }
        expected = [[min(1.0, one / total) for one in sums] for total in totals]
        assert any(measured.similarity == pytest.approx(one, abs=1e-6) for one in expected)


@given(stores, st.sampled_from(QUERIES), st.integers(1, 9), st.lists(st.integers(0, 7), max_size=6))
def test_nodes_are_measured_the_same_however_they_are_asked_for(
    nodes: list[MemoryNode], query: str, count: int, later: list[int]
) -> None:
    store = filled(*nodes)
    every = store.view().live_nodes()
    piecewise, whole = (asked(store, query, vector(1.0, 0.0)) for _ in range(2))
    piecewise.propose(count)
    whole.propose(count)
    for row in later:
        piecewise.of(every[every == row])
    assert np.array_equal(piecewise.known.rows, np.unique(piecewise.known.rows))
    for left, right in zip(piecewise.of(every), whole.of(every), strict=True):
        assert np.array_equal(left, right)


@given(stores, st.sampled_from(QUERIES), st.integers(1, 9))
def test_memories_are_measured_alike_all_at_once_or_as_they_are_reached(
    nodes: list[MemoryNode], query: str, count: int
) -> None:
    turns = [replace(node, position=place) for place, node in enumerate(nodes)]
    store = filled(*turns)
    for first, second in pairwise(turns):
        store.add_edge(MemoryEdge(first.id, second.id, EdgeType.SEQ, 1.0))
    measured = []
    for few in (0, 1024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("neurogated.retrieval.turns._FEW_NODES", few)
            similarity = asked(store, query, vector(0.8, 0.6))
            proposed = similarity.propose(count)
            measured.append([*proposed, *similarity.of(store.view().live_nodes())])
    for one, other in zip(*measured, strict=True):
        assert one == pytest.approx(other, abs=1e-9)
