"""Texts to a graph, with the models that the settings name."""

from __future__ import annotations

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, utc_now
from neurogated.core.defaults import default_models
from neurogated.core.ports import GraphStorePort
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.document import Document
from neurogated.ingestion.writer import Writer

__all__ = ["IngestionEngine"]


class IngestionEngine:
    """Writes documents to a graph as nodes with SEQ, SIM, CAUSE and other edges: a `Writer` with its models.

    `NeuroGraphMemory` does the same and more; this class serves a `GraphStore` of your own.
    """

    def __init__(self, store: GraphStorePort, config: MemoryConfig | None = None, clock: Clock = utc_now) -> None:
        """Take the graph.

        Args:
            store: the graph.
            config: settings; from the environment and the defaults when left out.
            clock: tells the time.
        """
        models = default_models(config)
        analysis = Analysis(models.causal_judge, models.entity_finder, 1)
        self._writer = Writer(store, models.embedder, analysis, models.config, clock)

    def add_document(self, text: str, *, title: str | None = None) -> list[str]:
        """Write a text; return the ids of its nodes in order.

        Raises:
            InputError: the text is blank; nothing was written.
            EmbedderMismatchError: the vectors of the store come from another embedder.
        """
        (ids,) = self._writer.add([Document.from_text(text, title=title)])
        return ids
