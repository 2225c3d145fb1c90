"""Settings, plasticity, prompts and utilities as the specification writes them, and differences on purpose."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import importlib
from pathlib import Path

import numpy as np
import pytest

from neurogated import EdgeType, GraphStore, MemoryConfig
from neurogated.errors import AmbiguousEdgeError, InputError, UnknownIdError
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.utils.hash_utils import compute_mdhash_id
from neurogated.utils.vector_utils import cosine_similarity

# `MemoryConfig` as the specification writes it


PARAMETERS = {
    "TOP_K_ANCHORS": 5,
    "TOP_N_RETRIEVAL": 3,
    "MAX_HOPS": 2,
    "ENERGY_DECAY_RATE": 0.5,
    "MAX_SIM_NEIGHBORS": 5,
    "HEBBIAN_LEARNING_RATE": 0.1,
    "TIME_DECAY_FACTOR": 0.99,
    "MIN_EDGE_WEIGHT": 0.1,
    "llm_name": "gpt-4o-mini",
    "llm_base_url": None,
    "temperature": 0.0,
    "max_new_tokens": 2048,
    "save_dir": "outputs",
    "force_index_from_scratch": False,
}


@pytest.mark.parametrize(("name", "value"), PARAMETERS.items())
def test_the_class_and_an_object_have_the_default(name: str, value: object) -> None:
    for default in (getattr(MemoryConfig, name), getattr(MemoryConfig(), name)):
        assert default == value
        assert type(default) is type(value)


def test_it_is_a_dataclass() -> None:
    assert dataclasses.is_dataclass(MemoryConfig)
    assert {spec.name for spec in dataclasses.fields(MemoryConfig)} >= PARAMETERS.keys()
    assert dataclasses.asdict(MemoryConfig())["MAX_HOPS"] == 2
    assert dataclasses.replace(MemoryConfig(), MAX_HOPS=3).MAX_HOPS == 3


def test_a_path_is_a_folder_too(tmp_path: Path) -> None:
    assert MemoryConfig(save_dir=tmp_path).save_dir == str(tmp_path)  # type: ignore[arg-type]


# `PlasticityEngine`: LTP and LTD


def test_a_path_of_nodes_or_ids_is_strengthened(graph: GraphStore) -> None:
    engine = PlasticityEngine(store=graph, config=MemoryConfig(HEBBIAN_LEARNING_RATE=0.2))
    engine.reinforce_path(retrieved_nodes=["b", "c"])
    engine.reinforce_path([graph.get_node("b"), graph.get_node("c")])

    assert graph.get_edge("b", "c").weight == pytest.approx(0.9)


# Prompts, hashes and vectors


@pytest.mark.parametrize(
    ("module", "name", "values"),
    [
        ("causal_extraction", "CAUSAL_EXTRACTION_TEMPLATE", {"first": "A.", "second": "B."}),
        ("kernel_generation", "KERNEL_GENERATION_TEMPLATE", {"query": "Why?"}),
        ("ner", "NER_TEMPLATE", {"text": "Ada lived in London."}),
    ],
)
def test_every_template_of_the_tree_is_there(module: str, name: str, values: dict[str, str]) -> None:
    template = getattr(importlib.import_module(f"neurogated.prompts.templates.{module}"), name)
    rendered = PromptTemplateManager().render(module, **values)

    assert [(role, text.format(**values)) for role, text in template] == [
        (message["role"], message["content"]) for message in (rendered[0], rendered[-1])
    ]


def test_an_id_is_a_prefix_and_a_hash() -> None:
    digest = hashlib.md5(b"some text", usedforsecurity=False).hexdigest()

    assert compute_mdhash_id("some text") == digest
    assert compute_mdhash_id("some text", prefix="chunk-") == f"chunk-{digest}"
    assert compute_mdhash_id(content="some text", prefix="doc-") == f"doc-{digest}"


def test_a_vector_has_a_cosine_with_each_row() -> None:
    assert float(cosine_similarity([1.0, 0.0], [0.6, 0.8])) == pytest.approx(0.6)
    similarities = cosine_similarity([1.0, 0.0], [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])

    assert similarities == pytest.approx([1.0, 0.6, 0.0])
    assert np.argsort(similarities)[::-1].tolist() == [0, 1, 2]
    assert np.argsort(cosine_similarity([1.0, 0.0], []))[::-1][:5].tolist() == []


def test_settings_are_replaced_and_not_assigned() -> None:
    config = MemoryConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.TOP_K_ANCHORS = 10  # type: ignore[misc]

    assert config.replace(TOP_K_ANCHORS=10).TOP_K_ANCHORS == 10


def test_nodes_and_weights_are_written_to_the_store_and_not_assigned(graph: GraphStore) -> None:
    node, edge = graph.get_node("a"), graph.get_edge("b", "c")
    with pytest.raises(dataclasses.FrozenInstanceError):
        node.base_energy = 0.5  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        edge.weight = min(1.0, edge.weight + 0.1)  # type: ignore[misc]

    graph.add_edge(dataclasses.replace(edge, weight=min(1.0, edge.weight + 0.1)))
    graph.add_node(dataclasses.replace(node, base_energy=0.5))
    assert graph.get_edge("b", "c").weight == pytest.approx(0.6)
    assert graph.get_node("a").base_energy == 0.5


def test_types_of_edges_are_a_registry_and_no_enum() -> None:
    assert not issubclass(EdgeType, enum.Enum)
    assert len(EdgeType) > 3
    assert [kind.name for kind in EdgeType][:3] == ["SEQ", "SIM", "CAUSE"]


def test_two_types_between_two_nodes_have_to_be_told_apart(graph: GraphStore) -> None:
    graph.add_edge("a", "b", EdgeType.SIM, weight=0.6)
    with pytest.raises(AmbiguousEdgeError):
        graph.get_edge("a", "b")

    assert graph.get_edge("a", "b", EdgeType.SIM).weight == 0.6


def test_a_negative_cosine_is_no_weight(graph: GraphStore) -> None:
    with pytest.raises(InputError):
        graph.add_edge("a", "b", EdgeType.SIM, weight=-0.2)

    graph.add_edge("a", "b", EdgeType.SIM, weight=max(0.0, -0.2))
    assert graph.get_edge("a", "b", EdgeType.SIM).weight == 0.0


def test_a_missing_id_is_an_error_and_not_none(graph: GraphStore) -> None:
    with pytest.raises(UnknownIdError):
        graph.get_node("ghost")
    with pytest.raises(UnknownIdError):
        graph.get_edge("b", "a")

    assert not graph.has_node("ghost")
