"""`Metabolism`: the calls by which memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from abc import ABC

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.arguments import names_arguments
from neurogated.core.ports import GraphStorePort
from neurogated.ingestion.writer import Writer
from neurogated.runtime import Runtime

__all__ = ["Metabolism"]


@names_arguments
class Metabolism(ABC):
    """Base of `NeuroGraphMemory` with the calls of its metabolism.

    Attributes:
        store: the graph.
        config: the settings.
    """

    config: MemoryConfig
    store: GraphStorePort
    _writer: Writer
    _parts: Parts
    _runtime: Runtime
