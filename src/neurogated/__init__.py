"""Memory for AI agents that works like memory: a graph of typed edges, recalled by spreading activation."""

import logging
from typing import TYPE_CHECKING, Any

from neurogated.core.defaults import Models, set_default_models
from neurogated.version import __version__

if TYPE_CHECKING:
    from neurogated.administration import import_memory, migrate, repair_memory, restore_snapshot
    from neurogated.aio import AsyncNeuroGraphMemory
    from neurogated.analysis import extract_causal_edges, generate_kernel
    from neurogated.components.texts import Page
    from neurogated.config.groups import (
        EmbeddingSettings,
        IndexingSettings,
        LearningSettings,
        LLMSettings,
        MetabolismSettings,
        RetrievalSettings,
        RuntimeSettings,
    )
    from neurogated.config.memory_config import MemoryConfig
    from neurogated.context.model import Answer, Choice, Context
    from neurogated.core.conflicts import Conflict
    from neurogated.core.delta import (
        Access,
        Charge,
        Decay,
        GraphDelta,
        HistoryEntry,
        NodeChange,
        NodeVersion,
        WeightChange,
    )
    from neurogated.core.edge_type import EdgeType
    from neurogated.core.facts import Fact
    from neurogated.core.filters import Condition, Filter, FilterOptions, field
    from neurogated.core.found import Statement
    from neurogated.core.judgements import Relation, RelationKind
    from neurogated.core.kernel import Kernel
    from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Neighbor
    from neurogated.core.node_kind import register_kind
    from neurogated.core.scope import ANY_USER, Scope, ScopeFilter
    from neurogated.core.trace import Feedback, PathStep, Recall, RecalledMemory
    from neurogated.core.view import GraphView
    from neurogated.errors import NeurogatedError
    from neurogated.ingestion.contents import AddReport, Message
    from neurogated.ingestion.document import Details, Document, Passage
    from neurogated.ingestion.drafts import Changes
    from neurogated.ingestion.ingestion_engine import IngestionEngine
    from neurogated.knowledge.effects import Effect
    from neurogated.llm.anthropic_llm import AnthropicLLM
    from neurogated.llm.base import BaseLLM
    from neurogated.llm.factory import get_llm
    from neurogated.llm.local_llm import LocalLLM
    from neurogated.llm.openai_llm import OpenAILLM
    from neurogated.memory import NeuroGraphMemory
    from neurogated.plasticity.energy import EnergyPoint
    from neurogated.plasticity.plasticity_engine import PlasticityEngine
    from neurogated.prompts.prompt_manager import PromptTemplateManager
    from neurogated.retrieval.kernel_generator import KernelGenerator
    from neurogated.retrieval.neuro_retriever import NeuroRetriever, RecallOptions
    from neurogated.retrieval.spreading_activation import SpreadingActivation, spreading_activation
    from neurogated.storage.graph_store import GraphStore
    from neurogated.tiers.canvas import Canvas
    from neurogated.tiers.facts import Tiers
    from neurogated.utils.hash_utils import compute_mdhash_id
    from neurogated.utils.vector_utils import cosine_similarity, retrieve_knn

__all__ = [
    "ANY_USER",
    "Access",
    "AddReport",
    "Answer",
    "AnthropicLLM",
    "AsyncNeuroGraphMemory",
    "BaseLLM",
    "Canvas",
    "Changes",
    "Charge",
    "Choice",
    "Condition",
    "Conflict",
    "Context",
    "Decay",
    "Details",
    "Document",
    "EdgeKey",
    "EdgeType",
    "Effect",
    "EmbeddingSettings",
    "EnergyPoint",
    "Fact",
    "Feedback",
    "Filter",
    "FilterOptions",
    "GraphDelta",
    "GraphStore",
    "GraphView",
    "HistoryEntry",
    "IndexingSettings",
    "IngestionEngine",
    "Kernel",
    "KernelGenerator",
    "LLMSettings",
    "LearningSettings",
    "LocalLLM",
    "MemoryConfig",
    "MemoryEdge",
    "MemoryNode",
    "Message",
    "MetabolismSettings",
    "Neighbor",
    "NeuroGraphMemory",
    "NeuroRetriever",
    "NeurogatedError",
    "NodeChange",
    "NodeVersion",
    "OpenAILLM",
    "Page",
    "Passage",
    "PathStep",
    "PlasticityEngine",
    "PromptTemplateManager",
    "Recall",
    "RecallOptions",
    "RecalledMemory",
    "Relation",
    "RelationKind",
    "RetrievalSettings",
    "RuntimeSettings",
    "Scope",
    "ScopeFilter",
    "SpreadingActivation",
    "Statement",
    "Tiers",
    "WeightChange",
    "__version__",
    "compute_mdhash_id",
    "cosine_similarity",
    "extract_causal_edges",
    "field",
    "generate_kernel",
    "get_llm",
    "import_memory",
    "migrate",
    "register_kind",
    "repair_memory",
    "restore_snapshot",
    "retrieve_knn",
    "spreading_activation",
]

# Loaded on first use, so that `import neurogated` is fast and imports no model.
_NAMES = {
    "administration": "import_memory migrate repair_memory restore_snapshot",
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
    "aio": "AsyncNeuroGraphMemory",
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
    "memory": "NeuroGraphMemory",
    "plasticity.energy": "EnergyPoint",
    "plasticity.plasticity_engine": "PlasticityEngine",
    "prompts.prompt_manager": "PromptTemplateManager",
    "retrieval.kernel_generator": "KernelGenerator",
    "retrieval.neuro_retriever": "NeuroRetriever RecallOptions",
    "retrieval.spreading_activation": "SpreadingActivation spreading_activation",
    "storage.graph_store": "GraphStore",
    "tiers.canvas": "Canvas",
    "tiers.facts": "Tiers",
    "utils.hash_utils": "compute_mdhash_id",
    "utils.vector_utils": "cosine_similarity retrieve_knn",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

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
    return sorted(__all__)


def _default_models(config: Any) -> Models:  # noqa: ANN401 - a MemoryConfig or None
    from neurogated import compose

    return compose.default_models(config)


set_default_models(_default_models)
