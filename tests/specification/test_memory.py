"""`NeuroGraphMemory`, ingestion, and the whole way from text to answer."""

from __future__ import annotations

import importlib
from pathlib import Path
from uuid import UUID

import pytest

from neurogated import GraphStore, IngestionEngine, MemoryConfig, NeuroGraphMemory, NeuroRetriever, PlasticityEngine

TEXT = "The pump failed on Monday. Because of this, the lower field was flooded."
TREE = {
    "config.memory_config": ["MemoryConfig"],
    "storage.graph_store": ["GraphStore", "MemoryNode", "MemoryEdge", "EdgeType"],
    "storage.embedding_store": ["EmbeddingStore"],
    "ingestion.ingestion_engine": ["IngestionEngine"],
    "ingestion.chunker": ["Chunker"],
    "ingestion.edge_builder": ["sequence_edges", "similarity_edges"],
    "retrieval.neuro_retriever": ["NeuroRetriever"],
    "retrieval.kernel_generator": ["KernelGenerator"],
    "retrieval.spreading_activation": ["SpreadingActivation", "spreading_activation"],
    "plasticity.plasticity_engine": ["PlasticityEngine"],
    "llm.base": ["BaseLLM"],
    "llm.openai_llm": ["OpenAILLM"],
    "llm.factory": ["get_llm"],
    "prompts.prompt_manager": ["PromptTemplateManager"],
    "prompts.templates.causal_extraction": ["CAUSAL_EXTRACTION_TEMPLATE"],
    "prompts.templates.kernel_generation": ["KERNEL_GENERATION_TEMPLATE"],
    "prompts.templates.ner": ["NER_TEMPLATE"],
    "utils.hash_utils": ["compute_mdhash_id"],
    "utils.vector_utils": ["cosine_similarity", "retrieve_knn"],
}


@pytest.mark.parametrize(("module", "names"), TREE.items())
def test_every_module_of_the_tree_is_there(module: str, names: list[str]) -> None:
    found = importlib.import_module(f"neurogated.{module}")

    assert all(hasattr(found, name) for name in names)


def test_a_memory_has_its_parts(memory: NeuroGraphMemory, config: MemoryConfig) -> None:
    assert memory.config == config
    assert isinstance(memory.store, GraphStore)
    assert isinstance(memory.retriever, NeuroRetriever)
    assert isinstance(memory.plasticity, PlasticityEngine)


def test_the_main_class_can_be_put_together_by_hand() -> None:
    config = MemoryConfig(embedding_name="hash", TOP_N_RETRIEVAL=1)
    store = GraphStore()
    ingestion = IngestionEngine(store, config)
    retriever = NeuroRetriever(store, config)
    plasticity = PlasticityEngine(store, config)

    (node_id,) = ingestion.add_document(text=TEXT)
    ingestion.add_document("The barn is red.", title="Barn")
    nodes = retriever.retrieve("Why was the field flooded?")
    plasticity.reinforce_path(nodes)
    plasticity.decay_unused()

    assert [node.id for node in nodes] == [node_id]
    assert store.get_node(node_id).content == TEXT


def test_a_document_is_added_and_recalled(memory: NeuroGraphMemory) -> None:
    assert memory.retrieve("Test query") == []
    memory.add_document(text=TEXT)
    memory.maintenance()

    assert memory.retrieve(query="Why was the field flooded?") == [TEXT]


def test_feedback_takes_ids_as_text_or_uuid(memory: NeuroGraphMemory) -> None:
    ids = [*memory.add_document(TEXT), *memory.add_document("The barn is red.")]
    memory.feedback(ids)
    memory.feedback(relevant_node_ids=ids)
    memory.feedback(memory.retriever.retrieve("pump"))

    with pytest.raises(KeyError):
        memory.feedback([UUID(int=0)])


def test_the_memory_is_under_the_folder_of_the_settings(tmp_path: Path) -> None:
    with NeuroGraphMemory(config=MemoryConfig(save_dir=str(tmp_path / "runs"), embedding_name="hash")) as memory:
        memory.add_document(TEXT)

    assert (tmp_path / "runs").is_dir()


@pytest.mark.slow
def test_the_bundled_model_serves_parts_that_are_given_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEUROGATED_EMBEDDING_NAME")
    store, config = GraphStore(), MemoryConfig()
    IngestionEngine(store, config).add_document(TEXT)

    assert [node.content for node in NeuroRetriever(store, config).retrieve("Why was there water?")] == [TEXT]
