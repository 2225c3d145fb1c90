"""The memory, its parts, its language models, and the commands."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from neurogated import (
    GraphStore,
    IngestionEngine,
    MemoryConfig,
    NeuroGraphMemory,
    NeuroRetriever,
    PlasticityEngine,
    extract_causal_edges,
)
from neurogated.llm.base import BaseLLM
from neurogated.llm.factory import get_llm
from neurogated.llm.openai_llm import OpenAILLM
from neurogated.llm.structured import StructuredLLM

# `NeuroGraphMemory`, ingestion, and the whole way from text to answer


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


@pytest.mark.slow
def test_the_bundled_model_serves_parts_that_are_given_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEUROGATED_EMBEDDING_NAME")
    store, config = GraphStore(), MemoryConfig()
    IngestionEngine(store, config).add_document(TEXT)

    assert [node.content for node in NeuroRetriever(store, config).retrieve("Why was there water?")] == [TEXT]


# Language models: factory, interface, and their judgements


MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")


@pytest.mark.usefixtures("_key")
def test_a_model_takes_the_settings_by_name() -> None:
    llm = OpenAILLM(config=MemoryConfig())
    llm.close()

    assert get_llm(config=MemoryConfig()).name == "gpt-4o-mini"


class Mine(BaseLLM):
    """The interface as the specification types it, without `ainfer`."""

    def infer(self, messages: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        """Answer."""
        return json.dumps({"causal": True, "strength": "strong", "reason": messages[-1]["content"]}), {}


class Both(Mine):
    """The interface with both methods."""

    async def ainfer(self, messages: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        """Answer."""
        return f"later: {messages[-1]['content']}", {}


def test_the_interface_is_abstract() -> None:
    with pytest.raises(TypeError):
        BaseLLM()  # type: ignore[abstract]


def test_a_model_of_ones_own_answers_asynchronously() -> None:
    assert asyncio.run(Both().ainfer(MESSAGES)) == ("later: Hello", {})
    assert asyncio.run(Mine().ainfer(MESSAGES)) == Mine().infer(MESSAGES)


def test_a_model_of_ones_own_judges_causes() -> None:
    from neurogated.ingestion.causality import LLMCausalJudge
    from neurogated.prompts.prompt_manager import PromptTemplateManager

    judge = LLMCausalJudge(StructuredLLM(Mine()), PromptTemplateManager(), MemoryConfig())

    assert extract_causal_edges("The dam broke.", "The field was flooded.", judge=judge) == (True, 1.0)


def test_causes_are_a_pair_of_bool_and_weight() -> None:
    has_causality, weight = extract_causal_edges("The dam broke.", "Because of this, the field was flooded.")

    assert has_causality is True
    assert 0.0 < weight <= 1.0
    assert extract_causal_edges("The dam broke.", "Bread is baked at four.") == (False, 0.0)


# Commands, data sets and installation


ROOT = Path(__file__).parents[2]


def run(*words: str, source: str = str(ROOT / "src")) -> subprocess.CompletedProcess[str]:
    """Run Python at the top of a checkout."""
    variables = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=variables, text=True, capture_output=True, check=False, timeout=240
    )


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    return done.returncode, done.stdout + done.stderr


def test_the_parts_of_main_are_imported_from_main() -> None:
    names = "GraphStore, MemoryConfig, NeuroGraphMemory, NeuroRetriever, PlasticityEngine"

    assert outcome(run("-c", f"from main import {names}")) == (0, "")


def test_a_checkout_runs_without_being_installed(tmp_path: Path) -> None:
    # So the requirements are found, but not the additions of an editable installation.
    requirements = sysconfig.get_path("purelib")
    flags = ["--dataset", "sample", "--embedding_name", "hash", "--save_dir", str(tmp_path)]
    code, text = outcome(run("-S", "main.py", *flags, source=requirements))

    assert code == 0, text
    where = run("-S", "-c", "import main, neurogated; print(neurogated.__file__)", source=requirements)
    assert outcome(where) == (0, f"{ROOT / 'src' / 'neurogated' / '__init__.py'}\n")


@pytest.mark.parametrize(
    "flag", ["--dataset", "--llm_name", "--embedding_name", "--llm_base_url", "--force_index_from_scratch"]
)
def test_every_flag_of_the_commands_is_known(flag: str) -> None:
    from neurogated.cli.measuring import bench_run

    context = bench_run.make_context("run", ["--dataset", "sample", flag, "true"])

    assert context.params[flag.removeprefix("--")] == "true"
