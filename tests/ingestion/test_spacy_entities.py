"""Names found by a real spaCy model."""

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import IndexingSettings
from neurogated.core.edge_type import EdgeType
from neurogated.errors import ConfigError
from neurogated.ingestion.entities import OfflineEntityFinder
from neurogated.ingestion.spacy_entities import SpacyEntityFinder

CONFIG = MemoryConfig(storage="memory", embedding_name="hash", indexing=IndexingSettings(entity_finder="spacy"))
TEXT = "Caroline met the Beatles in New York on Monday. She works for Acme Corp, and so does Caroline's aunt."


@pytest.fixture(scope="module")
def finder() -> SpacyEntityFinder:
    return SpacyEntityFinder(CONFIG.indexing.spacy_model, OfflineEntityFinder())


def test_a_memory_stores_found_names_and_joins_texts_by_them() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        (first,) = memory.add_document(TEXT)
        (second,) = memory.add_document("Nothing beats New York when it rains.")
        assert "New York" in memory.get(second).found.entities
        # "new", "york" and the name of both words are three terms of the two texts.
        assert memory.store.get_edge(second, first, EdgeType.TERM).weight == 1.0


def test_a_model_that_is_not_there_says_how_to_get_one() -> None:
    finder = SpacyEntityFinder("no_such_model", OfflineEntityFinder())
    with pytest.raises(ConfigError):
        finder.find("Ann went to Lyon.")
