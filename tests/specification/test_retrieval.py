"""`KernelGenerator`, `NeuroRetriever`, `SpreadingActivation`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from neurogated import MemoryConfig, generate_kernel
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryNode
from neurogated.embedding.registry import HashEmbedder
from neurogated.retrieval.kernel_generator import KernelGenerator
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.retrieval.spreading_activation import spreading_activation
from neurogated.storage.graph_store import GraphStore

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
