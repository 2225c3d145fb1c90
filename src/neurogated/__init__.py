"""Memory for AI agents that works like memory: a graph of typed edges, recalled by spreading activation."""

import logging
from typing import Any

from neurogated.core.defaults import Models, set_default_models
from neurogated.version import __version__ as __version__

# Loaded on first use, so that `import neurogated` is fast and imports no model. Type checkers read the same names in
# `__init__.pyi`, which packers of applications may leave out.
_NAMES = {
    "analysis": "extract_causal_edges generate_kernel",
    "components.texts": "Page",
    "config.groups": "EmbeddingSettings IndexingSettings LLMSettings LearningSettings MetabolismSettings "
    "RetrievalSettings RuntimeSettings",
    "config.memory_config": "MemoryConfig",
    "context.model": "Answer Choice Context",
    "core.conflicts": "Conflict",
    "core.delta": "Access Charge Decay GraphDelta HistoryEntry NodeChange NodeVersion WeightChange",
    "core.edge_type": "EdgeType",
    "core.facts": "Fact",
    "core.filters": "Condition Filter FilterOptions field",
    "core.found": "Statement",
    "core.judgements": "Relation RelationKind",
    "core.kernel": "Kernel",
    "core.model": "EdgeKey MemoryEdge MemoryNode Neighbor",
    "core.node_kind": "register_kind",
    "core.scope": "ANY_USER Scope ScopeFilter",
    "core.trace": "Feedback PathStep Recall RecalledMemory",
    "core.view": "GraphView",
    "errors": "NeurogatedError",
    "ingestion.contents": "AddReport Message",
    "ingestion.document": "Details Document Passage",
    "ingestion.ingestion_engine": "IngestionEngine",
    "ingestion.drafts": "Changes",
    "knowledge.effects": "Effect",
    "llm.anthropic_llm": "AnthropicLLM",
    "llm.base": "BaseLLM",
    "llm.factory": "get_llm",
    "llm.local_llm": "LocalLLM",
    "llm.openai_llm": "OpenAILLM",
    "memory": "AsyncNeuroGraphMemory NeuroGraphMemory",
    "plasticity.energy": "EnergyPoint",
    "plasticity.plasticity_engine": "PlasticityEngine",
    "prompts.prompt_manager": "PromptTemplateManager",
    "retrieval.kernel_generator": "KernelGenerator",
    "retrieval.neuro_retriever": "NeuroRetriever RecallOptions",
    "retrieval.spreading_activation": "SpreadingActivation spreading_activation",
    "session.administration": "import_memory migrate repair_memory restore_snapshot",
    "storage.graph_store": "GraphStore",
    "tiers.canvas": "Canvas",
    "tiers.facts": "Tiers",
    "utils.hash_utils": "compute_mdhash_id",
    "utils.vector_utils": "cosine_similarity retrieve_knn",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(("__version__", *_HOMES))  # noqa: PLE0605 - the names of the table above

# Logs nothing until the application sets up logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        from neurogated.core.habits import ELSEWHERE

        if name in ELSEWHERE:
            # Python would replace the message of an AttributeError of `from neurogated import …`.
            raise ImportError(f"neurogated has no {name!r}; call {ELSEWHERE[name]}", name=name)
        raise AttributeError(f"module 'neurogated' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"neurogated.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__


def _default_models(config: Any) -> Models:  # noqa: ANN401 - a MemoryConfig or None
    from neurogated.session import compose

    return compose.default_models(config)


set_default_models(_default_models)
