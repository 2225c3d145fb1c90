"""`MemoryNode`, `GraphStore`, `KernelGenerator`, `NeuroRetriever` and `SpreadingActivation`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest

from neurogated import MemoryConfig, generate_kernel
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.embedding.registry import HashEmbedder
from neurogated.retrieval.kernel_generator import KernelGenerator
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.retrieval.spreading_activation import spreading_activation
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


NAMES = {"SEQ": "sequential", "SIM": "similarity", "CAUSE": "causal"}


def test_a_node_needs_id_content_and_embedding() -> None:
    node = MemoryNode(id="test-1", content="Test", embedding=[0.1, 0.2])

    assert (node.id, node.content) == ("test-1", "Test")
    assert list(node.embedding) == pytest.approx([0.1, 0.2])  # type: ignore[arg-type]
    assert node.base_energy == 1.0
    assert isinstance(node.last_accessed, datetime)
    assert node.metadata == {}


def test_nodes_and_edges_take_their_fields_in_the_order_of_the_specification() -> None:
    then, uuid = datetime(2026, 1, 2, tzinfo=UTC), uuid4()
    node = MemoryNode(uuid, "Test", np.array([0.1, 0.2]), 0.5, then, {"source": "notes"})  # type: ignore[arg-type]
    edge = MemoryEdge("a", "b", EdgeType.SEQ, 0.5, then)

    assert (node.id, node.base_energy, node.last_accessed, node.metadata) == (str(uuid), 0.5, then, {"source": "notes"})
    assert (edge.key, edge.weight, edge.created_at) == (("a", "b", EdgeType.SEQ), 0.5, then)


@pytest.mark.parametrize(("name", "value"), NAMES.items())
def test_a_type_is_found_by_attribute_name_and_value(name: str, value: str) -> None:
    member = getattr(EdgeType, name)

    assert EdgeType[name] is EdgeType(value) is member
    assert EdgeType.__members__[name] is member
    assert (member.name, member.value) == (name, value)
    assert str(member) == f"EdgeType.{name}"


def test_a_type_is_the_key_of_a_dictionary() -> None:
    weights = {EdgeType.SEQ: 0.5, EdgeType.SIM: 1.5, EdgeType.CAUSE: 2.0}

    assert weights[EdgeType("causal")] == 2.0
    assert EdgeType.SEQ != EdgeType.SIM


def test_an_unknown_value_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown"):
        EdgeType("unknown")


WHY, WHAT = "Why did the pump fail?", "Which colour has the barn?"
TEXTS = (
    "The pump failed on Monday.",
    "Because of this, the lower field was flooded.",
    "The barn is red.",
    "Forty kilos of barley were ordered.",
)

makers: list[Callable[[], KernelGenerator]] = [
    KernelGenerator,
    lambda: KernelGenerator(MemoryConfig(embedding_name="hash")),
    lambda: KernelGenerator(config=MemoryConfig(embedding_name="hash")),
]


@pytest.fixture
def store() -> GraphStore:
    graph, embedder = GraphStore(), HashEmbedder()
    for place, (text, vector) in enumerate(zip(TEXTS, embedder.embed_documents(TEXTS), strict=True)):
        graph.add_node(MemoryNode(id=str(place), content=text, embedding=vector))
    graph.add_edge("0", "1", EdgeType.CAUSE, weight=1.0)
    graph.add_edge("1", "0", EdgeType.CAUSE, weight=1.0)
    graph.add_edge("0", "3", EdgeType.SEQ, weight=1.0)
    return graph


@pytest.mark.parametrize("make", makers)
def test_a_generator_needs_no_parts(make: Callable[[], KernelGenerator]) -> None:
    kernel = make().generate(WHY)

    assert kernel["weights"][EdgeType.CAUSE] > 1.5


@pytest.mark.parametrize("edge_type", [EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE])
def test_a_kernel_is_a_dictionary_of_weights_by_type(edge_type: EdgeType) -> None:
    kernel = KernelGenerator().generate(WHY)

    assert 0.0 <= kernel["weights"][edge_type] <= 2.0
    assert kernel["weights"][edge_type] == kernel[edge_type] == kernel.weights[edge_type]
    assert kernel["weights"][edge_type.name] == kernel["weights"][edge_type]  # type: ignore[index]


def test_a_kernel_has_the_keys_of_the_specification() -> None:
    kernel = KernelGenerator().generate(query=WHY)

    assert set(kernel) == {"weights", "justification"}
    assert "weights" in kernel
    assert isinstance(kernel["justification"], str)
    assert dict(kernel)["weights"] == kernel.get("weights")
    assert [name for name, _ in kernel.items()] == ["weights", "justification"]
    with pytest.raises(KeyError):
        kernel["weight"]


def test_a_type_that_a_kernel_does_not_name_is_neutral() -> None:
    kernel = Kernel({EdgeType.SEQ: 0.5}, "because")

    assert [kernel["weights"][kind] for kind in (EdgeType.SEQ, EdgeType.TERM)] == [0.5, 1.0]
    with pytest.raises(KeyError):
        kernel["weights"]["NONE"]  # type: ignore[index]


def test_a_kernel_is_made_by_a_function_too() -> None:
    kernel = generate_kernel(WHY)

    assert isinstance(kernel, dict)
    assert isinstance(kernel["weights"], dict)
    assert kernel["weights"][EdgeType.CAUSE] == kernel["weights"]["CAUSE"] > 1.5
    assert kernel["justification"]


def test_a_retriever_takes_store_and_settings(store: GraphStore) -> None:
    retriever = NeuroRetriever(store, MemoryConfig(embedding_name="hash"))
    by_name = NeuroRetriever(store=store, config=MemoryConfig(embedding_name="hash", TOP_N_RETRIEVAL=2))

    assert len(by_name.retrieve(query=WHY)) == 2
    assert retriever.recall(WHY)[0].content == TEXTS[0]
    assert retriever.retrieve(WHY)[0].content == TEXTS[0]


def test_activation_spreads_by_one_call(store: GraphStore) -> None:
    config = MemoryConfig(embedding_name="hash", TOP_N_RETRIEVAL=2)
    nodes = spreading_activation(WHY, store, config)

    assert [node.content for node in nodes] == [TEXTS[0], TEXTS[1]]
    assert spreading_activation(query=WHY, graph=store, config=config) == nodes


def test_the_same_graph_answers_different_questions_differently(store: GraphStore) -> None:
    config = MemoryConfig(embedding_name="hash", TOP_N_RETRIEVAL=1)

    assert spreading_activation(WHY, store, config) != spreading_activation(WHAT, store, config)


def test_a_store_of_another_embedder_is_refused(store: GraphStore) -> None:
    from neurogated.errors import EmbedderMismatchError

    store.bind_embedder("another", HashEmbedder().dimension)
    with pytest.raises(EmbedderMismatchError):
        NeuroRetriever(store, MemoryConfig(embedding_name="hash"))
