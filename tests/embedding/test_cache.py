import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neurogated.core.abilities import SupportsClear
from neurogated.embedding.cache import CachedEmbedder

TEXTS = ["a cat", "a dog", "我愛你", ""]


class CountingEmbedder:
    """Returns vectors that no rule of the cache could guess, and counts its calls."""

    dimension = 5

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.documents: Counter[str] = Counter()
        self.queries: Counter[str] = Counter()
        self.closed = False

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.documents.update(texts)
        return self.vectors(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.queries.update(texts)
        return self.vectors(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def close(self) -> None:
        self.closed = True

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        seeds = [[*f"{self.name}\n{text}".encode()] for text in texts]
        rows = [np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "down" / "embedding_cache.db"


@pytest.fixture
def counting() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def cached(counting: CountingEmbedder, path: Path) -> Iterator[CachedEmbedder]:
    with closing(CachedEmbedder(counting, path)) as embedder:
        yield embedder


@given(st.lists(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=3), max_size=6)))
def test_no_sequence_of_requests_computes_a_text_twice_or_changes_a_vector(batches: list[list[str]]) -> None:
    counting = CountingEmbedder()
    with TemporaryDirectory() as folder, closing(CachedEmbedder(counting, Path(folder, "cache.db"))) as cached:
        for batch in batches:
            assert np.array_equal(cached.embed_documents(batch), counting.vectors(batch))

    assert counting.documents == Counter(set().union(*batches))


def test_threads_that_ask_at_once_get_right_vectors(cached: CachedEmbedder, counting: CountingEmbedder) -> None:
    texts = [str(number) for number in range(200)]
    together = threading.Barrier(4)
    right: list[bool] = []

    def ask(order: list[str]) -> None:
        together.wait()
        for start in range(0, len(order), 10):
            some = order[start : start + 10]
            right.append(np.array_equal(cached.embed_documents(some), counting.vectors(some)))

    threads = [threading.Thread(target=ask, args=(texts[:: 1 - 2 * (number % 2)],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert right == [True] * 80


def test_a_cleared_cache_computes_again_and_has_no_vector_on_disk(
    cached: CachedEmbedder, counting: CountingEmbedder, path: Path
) -> None:
    assert isinstance(cached, SupportsClear)
    cached.embed_documents(TEXTS)
    vector = counting.vectors(TEXTS[:1]).tobytes()
    assert any(vector in file.read_bytes() for file in path.parent.iterdir())

    cached.clear()
    assert not any(vector in file.read_bytes() for file in path.parent.iterdir())
    cached.embed_documents(TEXTS)
    assert counting.documents == Counter([*TEXTS, *TEXTS])
