"""Ranking: what a recall returns, in which order, and why."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryNode
from neurogated.errors import InputError
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import NeuroRetriever


class _Compass:
    """Embeds a question as the vector it spells."""

    name, dimension = "compass", 2

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[float(part) for part in text.split()] for text in texts], dtype=np.float32)

    embed_documents = embed_queries

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        pass


def _retriever(store: GraphStore, **settings: object) -> NeuroRetriever:
    config = MemoryConfig().replace(**settings)
    return NeuroRetriever(store, config, embedder=_Compass(), kernel_source=UniformKernelSource())


@pytest.fixture
def store() -> GraphStore:
    """`near` is what the question asks for; `linked` is unlike it but follows it; `other` lies between."""
    store = GraphStore()
    for name, vector in {"near": [1.0, 0.0], "other": [0.6, 0.8], "linked": [0.3, 0.954], "far": [0.0, 1.0]}.items():
        store.add_node(MemoryNode(id=name, content=f"about {name}", embedding=vector))
    store.add_edge("near", "linked", EdgeType.SEQ, 1.0)
    return store


def test_classic_ranks_by_energy_and_fills_up_by_similarity(store: GraphStore) -> None:
    recall = _retriever(store, ACTIVATION="classic", TOP_K_ANCHORS=1, MAX_HOPS=1).recall("1 0", top_n=4)
    assert recall.ids == ("near", "linked", "other", "far")
    assert [memory.score for memory in recall] == [1.0, 0.5, 0.0, 0.0]
    assert recall[1].path[0].source_id == "near"
    assert recall.activation == "classic"


def test_gated_score_is_the_weighted_sum_of_its_parts(store: GraphStore) -> None:
    recall = _retriever(store, TOP_K_ANCHORS=1, SIMILARITY_WEIGHT=0.5, ENERGY_WEIGHT=2.0).recall("1 0", top_n=4)
    for memory in recall:
        assert memory.score == pytest.approx(0.5 * memory.parts["similarity"] + 2.0 * memory.parts["energy"])
    scores = [memory.score for memory in recall]
    assert scores == sorted(scores, reverse=True)


def test_without_energy_the_ranking_is_plain_vector_search(store: GraphStore) -> None:
    recall = _retriever(store, ENERGY_WEIGHT=0.0).recall("1 0", top_n=4)
    assert recall.ids == tuple(node.id for node, _ in store.vector_search([1.0, 0.0], 4))


def test_energy_lifts_what_is_linked(store: GraphStore) -> None:
    plain = _retriever(store, ENERGY_WEIGHT=0.0).recall("1 0", top_n=4).ids
    lifted = _retriever(store, ENERGY_WEIGHT=5.0, TOP_K_ANCHORS=1).recall("1 0", top_n=4).ids
    assert plain.index("linked") > plain.index("other")
    assert lifted.index("linked") < lifted.index("other")


def test_a_recall_changes_nothing(store: GraphStore) -> None:
    before = store.view().sequence
    first = _retriever(store).recall("1 0")
    assert store.view().sequence == before
    again = _retriever(store).recall("1 0")
    assert first.memories == again.memories


def test_the_mark_names_what_was_used(store: GraphStore) -> None:
    mark = _retriever(store, ACTIVATION="classic", TOP_K_ANCHORS=1).recall("1 0", top_n=2).mark
    assert mark.nodes == {"near", "linked"}
    assert {tuple(edge) for edge in mark.edges} == {("near", "linked", EdgeType.SEQ)}


def test_top_n_defaults_to_the_setting_and_stops_at_what_there_is(store: GraphStore) -> None:
    assert len(_retriever(store, TOP_N_RETRIEVAL=2).recall("1 0")) == 2
    assert len(_retriever(store).recall("1 0", top_n=99)) == 4


def test_an_empty_memory_recalls_nothing() -> None:
    recall = _retriever(GraphStore()).recall("1 0")
    assert list(recall) == []
    assert recall.anchors == ()


def test_equal_scores_come_in_order_of_id() -> None:
    store = GraphStore()
    for name in "cab":
        store.add_node(MemoryNode(id=name, content=name, embedding=[1.0, 0.0]))
    for mode in ("classic", "gated"):
        assert _retriever(store, ACTIVATION=mode).recall("1 0").ids == ("a", "b", "c")


@pytest.mark.parametrize("query", ["", " \n\t"])
def test_a_blank_query_is_refused(store: GraphStore, query: str) -> None:
    with pytest.raises(InputError, match="blank"):
        _retriever(store).recall(query)


def test_top_n_below_one_is_refused(store: GraphStore) -> None:
    with pytest.raises(InputError, match="top_n is 0"):
        _retriever(store).recall("1 0", top_n=0)


def test_every_stage_is_timed(store: GraphStore) -> None:
    recall = _retriever(store).recall("1 0")
    assert set(recall.seconds) == {"embed", "kernel", "search", "activate", "rank"}
    assert all(seconds >= 0 for seconds in recall.seconds.values())
    assert recall.kernel == Kernel()
