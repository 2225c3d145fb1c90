"""A memory with a hanging embedder logs a warning and leaves no thread."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import MemoryConfig, NeuroGraphMemory, compose, runtime
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.parts import Parts

# Long enough for the slowest machine. The test waits this long only if it fails.
PATIENCE = 60.0

Watchdogs = Callable[[], list[threading.Thread]]


class _Hanging(HashEmbedder):
    """Hangs until the log has a warning."""

    def __init__(self) -> None:
        self.told = threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self.told.wait(PATIENCE)
        return super().embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self.told.wait(PATIENCE)
        return super().embed_queries(texts)


class _Until(logging.Handler):
    """Releases the embedder when a warning contains the words."""

    def __init__(self, embedder: _Hanging, words: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self.embedder, self.words = embedder, words

    def emit(self, record: logging.LogRecord) -> None:
        if all(word in record.getMessage() for word in self.words):
            self.embedder.told.set()


@pytest.fixture
def embedder() -> _Hanging:
    return _Hanging()


@pytest.fixture
def hanging(embedder: _Hanging, monkeypatch: pytest.MonkeyPatch) -> Iterator[NeuroGraphMemory]:
    monkeypatch.setattr(runtime, "_STALL_SECONDS", 0.02)
    config = MemoryConfig(storage="memory", embedding_name="hash")
    built = compose.build(config)
    with NeuroGraphMemory(config, parts=Parts(built.store, embedder, built.kernel_source)) as memory:
        yield memory


@pytest.mark.parametrize(
    ("method", "argument", "words"),
    [
        ("add_document", "It rains.", ["indexing", "embedding 1 texts"]),
        ("add_documents", ["It rains.", "It snows.", "It hails."], ["indexing", "embedding 3 texts [embedding"]),
        ("recall", "Does it rain?", ["recalling", "embedding the question"]),
        ("retrieve_batch", ["Does it rain?", "Does it snow?"], ["recalling", "embedding the question"]),
    ],
)
def test_an_embedder_that_hangs_is_told_and_no_thread_stays(
    watchdogs: Watchdogs,
    hanging: NeuroGraphMemory,
    embedder: _Hanging,
    *,
    method: str,
    argument: object,
    words: list[str],
) -> None:
    logger, handler = logging.getLogger("neurogated"), _Until(embedder, words)
    logger.addHandler(handler)
    getattr(hanging, method)(argument)
    hanging.close()
    logger.removeHandler(handler)
    assert embedder.told.is_set()
    assert not watchdogs()
