import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neurogated.core.abilities import SupportsClear, SupportsStatistics
from neurogated.embedding.cache import CachedEmbedder
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import StorageError

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


def test_vectors_are_bit_identical_to_the_embedders_when_new_and_when_known(
    cached: CachedEmbedder, counting: CountingEmbedder
) -> None:
    expected = counting.vectors(TEXTS)

    for _ in range(2):
        vectors = cached.embed_documents(TEXTS)
        assert vectors.dtype == np.float32
        assert vectors.tobytes() == expected.tobytes()


def test_a_text_is_computed_once_however_often_it_is_asked(cached: CachedEmbedder, counting: CountingEmbedder) -> None:
    cached.embed_documents(["x", "y", "x"])
    cached.embed_documents(["y", "z", "z"])

    assert counting.documents == {"x": 1, "y": 1, "z": 1}


def test_known_and_new_texts_are_returned_in_the_order_asked(
    cached: CachedEmbedder, counting: CountingEmbedder
) -> None:
    cached.embed_documents(["b", "d"])
    mixed = ["a", "b", "c", "b", "d", "a"]

    assert np.array_equal(cached.embed_documents(mixed), counting.vectors(mixed))


@given(st.lists(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=3), max_size=6)))
def test_no_sequence_of_requests_computes_a_text_twice_or_changes_a_vector(batches: list[list[str]]) -> None:
    counting = CountingEmbedder()
    # SQLite keeps a file of this name in memory, so each example has its own cache.
    with closing(CachedEmbedder(counting, Path(":memory:"))) as cached:
        for batch in batches:
            assert np.array_equal(cached.embed_documents(batch), counting.vectors(batch))

    assert counting.documents == Counter(set().union(*batches))


def test_vectors_outlive_the_embedder_that_computed_them(path: Path) -> None:
    with closing(CachedEmbedder(CountingEmbedder(), path)) as first:
        vectors = first.embed_documents(TEXTS)

    again = CountingEmbedder()
    with closing(CachedEmbedder(again, path)) as second:
        assert np.array_equal(second.embed_documents(TEXTS), vectors)

    assert not again.documents


def test_another_model_does_not_share_the_vectors(path: Path) -> None:
    with closing(CachedEmbedder(CountingEmbedder("one"), path)) as first:
        first.embed_documents(TEXTS)

    other = CountingEmbedder("two")
    with closing(CachedEmbedder(other, path)) as second:
        assert np.array_equal(second.embed_documents(TEXTS), other.vectors(TEXTS))

    assert other.documents == Counter(TEXTS)


def test_questions_are_neither_cached_nor_answered_from_the_cache(
    cached: CachedEmbedder, counting: CountingEmbedder
) -> None:
    cached.embed_documents(["x"])
    for _ in range(2):
        assert np.array_equal(cached.embed_queries(["x", "y"]), counting.vectors(["x", "y"]))
    cached.embed_documents(["y"])

    assert counting.queries == {"x": 2, "y": 2}
    assert counting.documents == {"x": 1, "y": 1}


def test_no_texts_give_no_vectors_of_the_right_width(cached: CachedEmbedder, counting: CountingEmbedder) -> None:
    assert cached.embed_documents([]).shape == (0, counting.dimension)
    assert not counting.documents


def test_name_dimension_tokens_and_close_are_the_wrapped_embedders(counting: CountingEmbedder, path: Path) -> None:
    cached = CachedEmbedder(counting, path)

    assert (cached.name, cached.dimension) == ("counting", 5)
    assert cached.count_tokens(["abc", ""]) == [3, 0]

    cached.close()
    assert counting.closed


def test_a_file_that_is_no_database_is_moved_aside_with_a_warning(
    counting: CountingEmbedder, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rubbish = np.random.default_rng(0).bytes(5000)
    path.parent.mkdir(parents=True)
    path.write_bytes(rubbish)

    with caplog.at_level(logging.WARNING), closing(CachedEmbedder(counting, path)) as cached:
        assert np.array_equal(cached.embed_documents(TEXTS), counting.vectors(TEXTS))
        assert np.array_equal(cached.embed_documents(TEXTS), counting.vectors(TEXTS))

    assert counting.documents == Counter(TEXTS)
    assert path.with_suffix(".damaged").read_bytes() == rubbish
    (record,) = caplog.records
    assert record.name == "neurogated.core.cache_file"
    assert str(path) in record.getMessage()
    assert str(path.with_suffix(".damaged")) in record.getMessage()


def test_a_database_damaged_behind_its_first_page_costs_a_warning_and_no_vector(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    many = [f"text number {number}" for number in range(500)]
    with closing(CachedEmbedder(CountingEmbedder(), path)) as cached:
        cached.embed_documents(many)
    size = path.stat().st_size
    first_page = path.read_bytes()[:4096]
    path.write_bytes(first_page + np.random.default_rng(0).bytes(size - len(first_page)))

    again = CountingEmbedder()
    with caplog.at_level(logging.WARNING), closing(CachedEmbedder(again, path)) as cached:
        assert np.array_equal(cached.embed_documents(many), again.vectors(many))

    assert str(path) in caplog.text


def test_a_sound_file_is_opened_without_a_warning(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        with closing(CachedEmbedder(CountingEmbedder(), path)) as cached:
            cached.embed_documents(TEXTS)

    assert not caplog.records
    assert not path.with_suffix(".damaged").exists()


@pytest.mark.parametrize("place", ["file/cache.db", "folder"])
def test_a_place_where_no_file_can_be_is_logged_once_and_nothing_is_cached(
    counting: CountingEmbedder, tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()

    with closing(CachedEmbedder(counting, tmp_path / place)) as cached:
        for _ in range(2):
            assert np.array_equal(cached.embed_documents(TEXTS), counting.vectors(TEXTS))
        with pytest.raises(StorageError, match="cannot empty the cache"):
            cached.clear()

    assert [record.getMessage().count(str(tmp_path / place)) for record in caplog.records] == [1]
    assert counting.documents == Counter([*TEXTS, *TEXTS])


def test_threads_that_ask_at_once_get_right_vectors_and_compute_each_text_once(
    cached: CachedEmbedder, counting: CountingEmbedder
) -> None:
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
    assert counting.documents == Counter(texts)


def test_an_open_cache_is_shared_with_another_one_on_the_same_file(cached: CachedEmbedder, path: Path) -> None:
    cached.embed_documents(["x"])

    second = CountingEmbedder()
    with closing(CachedEmbedder(second, path)) as other:
        other.embed_documents(["x", "y"])

    assert second.documents == {"y": 1}


def test_a_real_embedder_is_wrapped_without_a_difference(path: Path) -> None:
    plain = HashEmbedder()
    with closing(CachedEmbedder(plain, path)) as cached:
        for _ in range(2):
            assert np.array_equal(cached.embed_documents(TEXTS), plain.embed_documents(TEXTS))


def test_a_vector_of_another_length_is_computed_again(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(CachedEmbedder(CountingEmbedder(), path)) as first:
        first.embed_documents(TEXTS)

    longer = CountingEmbedder()
    longer.dimension = 7
    with caplog.at_level(logging.WARNING), closing(CachedEmbedder(longer, path)) as second:
        for _ in range(2):
            assert np.array_equal(second.embed_documents(TEXTS), longer.vectors(TEXTS))

    assert longer.documents == Counter(TEXTS)
    assert f"dropped {len(TEXTS)} damaged values" in caplog.text


def test_bytes_changed_on_disk_never_become_a_vector(path: Path) -> None:
    counting = CountingEmbedder()
    with closing(CachedEmbedder(counting, path)) as cached:
        cached.embed_documents(TEXTS)
    vector = counting.vectors(TEXTS[:1]).tobytes()
    content = path.read_bytes()
    assert content.count(vector) == 1
    path.write_bytes(content.replace(vector, vector[::-1]))

    with closing(CachedEmbedder(counting, path)) as cached:
        assert np.array_equal(cached.embed_documents(TEXTS), counting.vectors(TEXTS))
    assert counting.documents == Counter(TEXTS) + Counter(TEXTS[:1])


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


def test_hits_and_misses_of_passages_are_counted_and_the_embedders_own_figures_kept(path: Path) -> None:
    class Talkative(CountingEmbedder):
        def statistics(self) -> dict[str, int | float]:
            return {"texts": self.documents.total()}

    with closing(CachedEmbedder(Talkative(), path)) as cached:
        assert isinstance(cached, SupportsStatistics)
        cached.embed_documents(["a", "b", "a"])
        cached.embed_documents(["a", "c"])
        cached.embed_queries(["a"])
        figures = cached.statistics()
    assert figures.pop("cache bytes") > 0
    assert figures == {"texts": 3, "cache hits": 1, "cache misses": 3, "cache hit rate": 0.25}


class WaitingEmbedder(CountingEmbedder):
    """Embeds "slow" only after the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.allowed = threading.Event(), threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if "slow" in texts:
            self.begun.set()
            assert self.allowed.wait(timeout=60)
        return super().embed_documents(texts)


def test_a_thread_waits_for_the_texts_that_another_computes_and_for_no_others(path: Path) -> None:
    waiting = WaitingEmbedder()
    with closing(CachedEmbedder(waiting, path)) as cached, ThreadPoolExecutor(2) as threads:
        slow = threads.submit(cached.embed_documents, ["slow"])
        assert waiting.begun.wait(timeout=60)
        # It answers while the other thread is at work.
        assert np.array_equal(cached.embed_documents(["quick"]), waiting.vectors(["quick"]))
        both = threads.submit(cached.embed_documents, ["slow", "quick", "new"])
        waiting.allowed.set()
        assert np.array_equal(slow.result(), waiting.vectors(["slow"]))
        assert np.array_equal(both.result(), waiting.vectors(["slow", "quick", "new"]))

    assert waiting.documents == {"slow": 1, "quick": 1, "new": 1}
