"""`GraphStore`: nodes, edges and neighbours."""

from __future__ import annotations

from uuid import uuid4

import numpy as np
import pytest

from neurogated import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.storage.graph_store import GraphStore
from neurogated.utils.vector_utils import cosine_similarity


def test_nodes_edges_and_neighbours_are_found_by_uuids() -> None:
    store, ids = GraphStore(), [uuid4(), uuid4()]
    for uuid in ids:
        store.add_node(MemoryNode(id=uuid, content="Test"))  # type: ignore[arg-type]
    store.add_edge(ids[0], ids[1], EdgeType.SEQ, weight=1.0)

    assert store.get_node(ids[0]).id == store.get_node(str(ids[0])).id == str(ids[0])
    assert store.get_edge(ids[0], ids[1]).weight == 1.0
    assert [neighbor_id for neighbor_id, _ in store.get_neighbors(ids[0])] == [str(ids[1])]
    store.remove_node(ids[1])
    assert not store.has_node(ids[1])


def test_the_ends_of_an_edge_may_be_nodes_and_its_type_a_word(graph: GraphStore) -> None:
    source, target = graph.get_node("a"), graph.get_node("b")
    graph.add_edge(source, target, "similarity", 0.6)
    graph.add_edge(source="b", target="c", type=EdgeType.SIM, weight=0.7)

    assert graph.get_edge("a", "b", EdgeType.SIM).weight == 0.6
    assert graph.get_edge("b", "c", EdgeType.SIM).weight == 0.7


def test_neighbours_are_a_list_of_edges(graph: GraphStore) -> None:
    edges = graph.get_neighbors(node_id="a")

    assert [(edge.source_id, edge.target_id, edge.type.name, edge.weight) for edge in edges] == [
        ("a", "b", "SEQ", 1.0),
        ("a", "c", "CAUSE", 0.8),
    ]


def test_edges_are_removed_while_they_are_listed(graph: GraphStore) -> None:
    for edge in graph.all_edges():
        if edge.weight < 0.6:
            graph.remove_edge(edge)

    assert [edge.type for edge in graph.all_edges()] == [EdgeType.SEQ, EdgeType.CAUSE, EdgeType.CAUSE]


def test_anchors_by_position_and_keyword(graph: GraphStore) -> None:
    config = MemoryConfig()
    anchors = graph.vector_search([1.0, 0.0], k=config.TOP_K_ANCHORS)
    activations = {node.id: similarity_score for node, similarity_score in anchors}

    assert list(activations) == ["a", "b", "c"]
    assert activations["b"] == pytest.approx(0.6)
    assert [node.id for node, _ in graph.vector_search(query_vec=np.array([0.0, 1.0]), k=2)] == ["c", "b"]
    for name in range(9):
        graph.add_node(MemoryNode(str(name), "Test", [1.0, float(name)]))
    assert len(graph.vector_search(query_vec=[1.0, 0.0])) == config.TOP_K_ANCHORS


def test_similar_nodes_are_connected_as_in_the_snippet() -> None:
    graph, config = GraphStore(), MemoryConfig(MAX_SIM_NEIGHBORS=2)
    existing_nodes = [
        MemoryNode(name, name, vector) for name, vector in (("a", [1.0, 0.0]), ("b", [0.6, 0.8]), ("c", [0.0, 1.0]))
    ]
    new_nodes = [MemoryNode("new", "new", [0.9, 0.1])]
    for node in [*existing_nodes, *new_nodes]:
        graph.add_node(node)
    existing_embeddings = [node.embedding for node in existing_nodes]

    for node in new_nodes:
        similarities = cosine_similarity(node.embedding, existing_embeddings)  # type: ignore[arg-type]
        top_k_indices = np.argsort(similarities)[::-1][: config.MAX_SIM_NEIGHBORS]
        for idx in top_k_indices:
            neighbor = existing_nodes[idx]
            weight = similarities[idx]
            graph.add_edge(node.id, neighbor.id, EdgeType.SIM, weight=weight)

    assert [neighbor.id for neighbor in graph.get_neighbors("new")] == ["a", "b"]
    assert graph.get_edge("new", "a").weight == pytest.approx(0.9939, abs=1e-4)


def test_the_vectors_have_a_store_of_their_own() -> None:
    from neurogated.storage.embedding_store import EmbeddingStore

    vectors = EmbeddingStore()
    vectors.put(np.array([7]), np.array([[1.0, 0.0]], dtype=np.float32))

    assert vectors.search([1.0, 0.0], 1)[0].tolist() == [7]
