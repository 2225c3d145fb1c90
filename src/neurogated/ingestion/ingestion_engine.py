"""Indexing of texts with the configured models."""

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, utc_now
from neurogated.core.defaults import default_models
from neurogated.core.ports import GraphStorePort
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.document import Document
from neurogated.ingestion.writer import Writer


class IngestionEngine:
    """Writes documents to a graph as nodes with SEQ, SIM, CAUSE and other edges.

    Use this class with your own `GraphStore`. `NeuroGraphMemory` does the same and more.
    """

    def __init__(self, store: GraphStorePort, config: MemoryConfig | None = None, clock: Clock = utc_now) -> None:
        """Take the graph, the settings (default: those of the environment), and what tells the present time."""
        models = default_models(config)
        analysis = Analysis(models.causal_judge, models.entity_finder, models.encoder)
        self._writer = Writer(store, models.embedder, analysis, models.config, clock)

    def add_document(self, text: str, *, title: str | None = None) -> list[str]:
        """Write a text; return the ids of its nodes in order.

        Raises:
            InputError: the text is blank; nothing is written.
            EmbedderMismatchError: another embedder has computed the vectors of the store.
        """
        document = Document.from_text(text, title=title)
        self._writer.check_document(document)
        (ids,) = self._writer.add([document])
        return ids
