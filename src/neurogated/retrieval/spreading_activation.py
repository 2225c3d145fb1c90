"""The names of the specification: the activation, and the whole retrieval as one function."""

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.retrieval.activation import SpreadingActivation
from neurogated.retrieval.neuro_retriever import NeuroRetriever

__all__ = ["SpreadingActivation", "spreading_activation"]


def spreading_activation(query: str, graph: GraphStorePort, config: MemoryConfig | None = None) -> list[MemoryNode]:
    """Return the `TOP_N_RETRIEVAL` nodes that answer a question, best first; see `NeuroRetriever`."""
    return NeuroRetriever(graph, config).retrieve(query)
