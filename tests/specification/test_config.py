"""Settings, plasticity, prompts and utilities as the specification writes them."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
from pathlib import Path

import numpy as np
import pytest

from neurogated import MemoryConfig
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.storage.graph_store import GraphStore
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
