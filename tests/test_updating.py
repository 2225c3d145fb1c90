"""An update judges its text without the lock and embeds the whole text."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.config.groups import IndexingSettings
from neurogated.core.rendering import render
from neurogated.embedding.hash_embedder import HashEmbedder
from tests.sessions import LONG

CONFIG = MemoryConfig(storage="memory", embedding_name="hash", indexing=IndexingSettings(chunk_size=9, chunk_overlap=0))


@pytest.mark.parametrize("upsert", [True, False])
def test_others_write_while_an_update_is_judged(*, upsert: bool) -> None:
    parts = build(CONFIG)
    finder, written = parts.entity_finder, threading.Event()
    with NeuroGraphMemory(CONFIG, parts=parts) as memory:
        memory.add("The pump failed.", id="pump")

        def write() -> None:
            memory.add("A heron stood by the mill.")
            written.set()

        def find(text: str) -> tuple[str, ...]:
            if "works" in text and not written.is_set():
                threading.Thread(target=write).start()
                assert written.wait(20), "the write lock is held while a text is judged"
            return type(finder).find(finder, text)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(finder, "find", find, raising=True)
            if upsert:
                memory.add("The pump works.", id="pump")
            else:
                memory.update("pump", "The pump works.")
        assert written.is_set()
        assert {node.content for node in memory.list()} == {"The pump works.", "A heron stood by the mill."}


def test_the_vector_of_a_long_text_is_the_mean_of_its_chunks() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        chunks = [memory.get(node_id).content for node_id in memory.add(LONG)]
        assert len(chunks) > 1
        (node_id,) = memory.add("The pump failed.", title="Pump")
        node = memory.update(node_id, LONG, title="Pump")
        cut = memory._writer._reviser._chunker.split(LONG, "Pump\n")
        vectors = HashEmbedder().embed_documents([f"Pump\n{chunk}" for chunk in cut])
        assert len(vectors) > 1
        mean = vectors.mean(axis=0)
        assert np.allclose(np.asarray(node.embedding), mean / np.linalg.norm(mean))
        # The end of the text counts as much as its beginning.
        assert not np.allclose(np.asarray(node.embedding), vectors[0])
        assert render(node) == f"Pump\n{LONG}"
