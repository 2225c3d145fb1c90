"""Memory for AI agents that works like memory: a graph of typed edges, recalled by spreading activation."""

import logging
from typing import TYPE_CHECKING, Any

from neurogated.core.defaults import Models, set_default_models
from neurogated.version import __version__ as __version__

if TYPE_CHECKING:
    from neurogated.analysis import extract_causal_edges as extract_causal_edges
    from neurogated.analysis import generate_kernel as generate_kernel
    from neurogated.components.texts import Page as Page
    from neurogated.config.groups import EmbeddingSettings as EmbeddingSettings
    from neurogated.config.groups import IndexingSettings as IndexingSettings
    from neurogated.config.groups import LearningSettings as LearningSettings
    from neurogated.config.groups import LLMSettings as LLMSettings
    from neurogated.config.groups import MetabolismSettings as MetabolismSettings
    from neurogated.config.groups import RetrievalSettings as RetrievalSettings
    from neurogated.config.groups import RuntimeSettings as RuntimeSettings
    from neurogated.config.memory_config import MemoryConfig as MemoryConfig
    from neurogated.context.model import Answer as Answer
    from neurogated.context.model import Choice as Choice
    from neurogated.context.model import Context as Context
    from neurogated.core.conflicts import Conflict as Conflict
    from neurogated.core.delta import Access as Access
    from neurogated.core.delta import Charge as Charge
    from neurogated.core.delta import Decay as Decay
    from neurogated.core.delta import GraphDelta as GraphDelta
    from neurogated.core.delta import HistoryEntry as HistoryEntry
    from neurogated.core.delta import NodeChange as NodeChange
    from neurogated.core.delta import NodeVersion as NodeVersion
    from neurogated.core.delta import WeightChange as WeightChange
    from neurogated.core.edge_type import EdgeType as EdgeType
    from neurogated.core.facts import Fact as Fact
    from neurogated.core.filters import Condition as Condition
    from neurogated.core.filters import Filter as Filter
    from neurogated.core.filters import FilterOptions as FilterOptions
    from neurogated.core.filters import field as field
    from neurogated.core.found import Statement as Statement
    from neurogated.core.judgements import Relation as Relation
    from neurogated.core.judgements import RelationKind as RelationKind
    from neurogated.core.kernel import Kernel as Kernel
    from neurogated.core.model import EdgeKey as EdgeKey
    from neurogated.core.model import MemoryEdge as MemoryEdge
    from neurogated.core.model import MemoryNode as MemoryNode
    from neurogated.core.model import Neighbor as Neighbor
    from neurogated.core.node_kind import register_kind as register_kind
    from neurogated.core.scope import ANY_USER as ANY_USER
    from neurogated.core.scope import Scope as Scope
    from neurogated.core.scope import ScopeFilter as ScopeFilter
    from neurogated.core.trace import Feedback as Feedback
    from neurogated.core.trace import PathStep as PathStep
    from neurogated.core.trace import Recall as Recall
    from neurogated.core.trace import RecalledMemory as RecalledMemory
    from neurogated.core.view import GraphView as GraphView
    from neurogated.errors import NeurogatedError as NeurogatedError
    from neurogated.ingestion.contents import AddReport as AddReport
    from neurogated.ingestion.contents import Message as Message
    from neurogated.ingestion.document import Details as Details
    from neurogated.ingestion.document import Document as Document
    from neurogated.ingestion.document import Passage as Passage
    from neurogated.ingestion.drafts import Changes as Changes
    from neurogated.ingestion.ingestion_engine import IngestionEngine as IngestionEngine
    from neurogated.knowledge.effects import Effect as Effect
    from neurogated.llm.anthropic_llm import AnthropicLLM as AnthropicLLM
    from neurogated.llm.base import BaseLLM as BaseLLM
    from neurogated.llm.factory import get_llm as get_llm
    from neurogated.llm.local_llm import LocalLLM as LocalLLM
    from neurogated.llm.openai_llm import OpenAILLM as OpenAILLM
    from neurogated.memory import AsyncNeuroGraphMemory as AsyncNeuroGraphMemory
    from neurogated.memory import NeuroGraphMemory as NeuroGraphMemory
    from neurogated.plasticity.energy import EnergyPoint as EnergyPoint
    from neurogated.plasticity.plasticity_engine import PlasticityEngine as PlasticityEngine
    from neurogated.prompts.prompt_manager import PromptTemplateManager as PromptTemplateManager
    from neurogated.retrieval.kernel_generator import KernelGenerator as KernelGenerator
    from neurogated.retrieval.neuro_retriever import NeuroRetriever as NeuroRetriever
    from neurogated.retrieval.neuro_retriever import RecallOptions as RecallOptions
    from neurogated.retrieval.spreading_activation import SpreadingActivation as SpreadingActivation
    from neurogated.retrieval.spreading_activation import spreading_activation as spreading_activation
    from neurogated.session.administration import import_memory as import_memory
    from neurogated.session.administration import migrate as migrate
    from neurogated.session.administration import repair_memory as repair_memory
    from neurogated.session.administration import restore_snapshot as restore_snapshot
    from neurogated.storage.graph_store import GraphStore as GraphStore
    from neurogated.tiers.canvas import Canvas as Canvas
    from neurogated.tiers.facts import Tiers as Tiers
    from neurogated.utils.hash_utils import compute_mdhash_id as compute_mdhash_id
    from neurogated.utils.vector_utils import cosine_similarity as cosine_similarity
    from neurogated.utils.vector_utils import retrieve_knn as retrieve_knn

# Loaded on first use, so that `import neurogated` is fast and imports no model.
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
