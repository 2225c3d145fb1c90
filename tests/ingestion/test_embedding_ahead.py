import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import EmbeddingError
from neurogated.ingestion.embedding_ahead import EmbeddingAhead


class Calls(HashEmbedder):
    """Records the texts of each call, and refuses some texts."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.go = threading.Event()
        self.go.set()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        assert self.go.wait(timeout=60)
        if "bad" in texts:
            raise EmbeddingError("text 0 is bad")
        return super().embed_documents(texts)


def test_every_text_has_its_own_vector_whether_it_was_begun_or_not() -> None:
    embedder = Calls()
    with EmbeddingAhead(embedder) as embedding:
        embedding.begin(["cat", "dog", "cat"])
        embedding.begin(["dog", "rain", "hail"])
        found = embedding.take(["rain", "snow", "cat", "rain"])

    expected = HashEmbedder().embed_documents(["rain", "snow", "cat", "rain"])
    np.testing.assert_array_equal(np.stack([np.asarray(vector) for vector in found]), expected)
    assert embedder.calls == [["cat", "dog"], ["rain", "hail"], ["snow"]]


def test_an_error_of_the_embedder_is_raised_for_the_texts_of_its_call_alone() -> None:
    with EmbeddingAhead(Calls()) as embedding:
        embedding.begin(["cat", "dog"])
        embedding.begin(["bad", "rain"])
        assert len(embedding.take(["cat"])) == 1
        with pytest.raises(EmbeddingError):
            embedding.take(["bad"])


def test_texts_not_reached_at_the_end_of_the_block_are_not_embedded() -> None:
    embedder = Calls()
    embedder.go.clear()

    def be_interrupted() -> None:
        with EmbeddingAhead(embedder) as embedding:
            embedding.begin(["cat", "dog"])
            embedding.begin(["rain", "hail"])
            threading.Timer(0.1, embedder.go.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        be_interrupted()
    assert embedder.calls in ([["cat", "dog"]], [])
    assert not any(thread.name.startswith("embedding") for thread in threading.enumerate())
