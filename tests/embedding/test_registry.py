"""Embedders by name, their cache, the watch over languages, and those of sentence-transformers."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import EmbeddingSettings
from neurogated.core.abilities import SupportsClear
from neurogated.core.ports import Embedder
from neurogated.embedding.bundled_model import BundledEmbedder
from neurogated.embedding.cache import CachedEmbedder
from neurogated.embedding.exported_model import unit_vectors
from neurogated.embedding.language_watch import LanguageWatch
from neurogated.embedding.openai_embedder import OpenAIEmbedder
from neurogated.embedding.registry import HashEmbedder, build_embedder
from neurogated.embedding.sentence_transformers_embedder import BUNDLED_MODEL, SentenceTransformersEmbedder
from neurogated.errors import EmbeddingError

SERVER = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("config", "kind", "name"),
    [
        (MemoryConfig(embedding_name="hash"), HashEmbedder, "hash-256"),
        # The error for another embedder than that of a memory names this one.
        (MemoryConfig(embedding_name="hash-256"), HashEmbedder, "hash-256"),
        (MemoryConfig(), BundledEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(backend="openvino")), BundledEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(backend="torch")), SentenceTransformersEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding_name="sentence-transformers/all-MiniLM-L6-v2"), BundledEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding_name="nvidia/NV-Embed-v2"), SentenceTransformersEmbedder, "nvidia/NV-Embed-v2"),
        (MemoryConfig(embedding_name="openai:text-embedding-3-small"), OpenAIEmbedder, "openai:text-embedding-3-small"),
        (
            MemoryConfig(embedding_name="bge-m3", embedding=EmbeddingSettings(base_url=SERVER)),
            OpenAIEmbedder,
            "openai:bge-m3",
        ),
    ],
    ids=lambda value: value.embedding_name if isinstance(value, MemoryConfig) else "",
)
def test_the_name_decides_the_embedder(config: MemoryConfig, kind: type[Embedder], name: str) -> None:
    embedder = build_embedder(config, api_key="key")

    assert type(embedder) is kind
    assert embedder.name == name
    embedder.close()


TEXTS = ["The cat sat on the mat.", "我愛你。", "Straße nach Köln", "!!!", "a a a b"]
PRINT_VECTORS = """
import json, sys
from neurogated.embedding.registry import HashEmbedder
print(json.dumps(HashEmbedder().embed_documents(json.loads(sys.argv[1])).tolist()))
"""


@pytest.fixture(scope="module")
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.mark.parametrize("seed", ["0", "12345"])
def test_another_process_with_another_hash_seed_gives_the_same_vectors(embedder: HashEmbedder, seed: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", PRINT_VECTORS, json.dumps(TEXTS)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(answer.stdout) == embedder.embed_documents(TEXTS).tolist()


@given(st.lists(st.sampled_from(["cat", "dog", "river", "我", "愛", "42"]), min_size=1, max_size=20))
def test_a_text_with_words_has_a_vector_of_unit_length(words: list[str]) -> None:
    (vector,) = HashEmbedder().embed_documents([" ".join(words)])

    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("position", [0, 2])
def test_a_number_that_is_not_finite_is_refused_with_model_and_position(bad: float, position: int) -> None:
    matrix = np.ones((3, 4))
    matrix[position, 1] = bad

    with pytest.raises(EmbeddingError):
        unit_vectors(matrix, "half-model")


@given(
    hnp.arrays(
        np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-100, 100, width=16)
    )
)
def test_every_other_vector_gets_unit_length_and_keeps_its_direction(matrix: np.ndarray) -> None:
    unit = unit_vectors(matrix, "m")

    assert unit.dtype == np.float32
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    np.testing.assert_allclose(unit * lengths, matrix, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), lengths[:, 0] > 0, atol=1e-5)


# The bundled model reads English; a memory of other texts warns once


OTHERS = {
    "zh": ["我有一只猫。", "火车九点开。", "她五月搬到了巴黎。", "我的邮箱是 ana@example.com。"],
    "ru": ["Кошка спит дома.", "Поезд отходит в девять."],
    "de": ["Ich habe eine Katze.", "Der Zug fährt um neun Uhr."],
}


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize("language", OTHERS)
def test_most_texts_in_another_language_warn_once_with_the_remedy(
    language: str, caplog: pytest.LogCaptureFixture
) -> None:
    watch = LanguageWatch("some-model")
    for number in range(40):
        watch.count([OTHERS[language][number % len(OTHERS[language])]])
    (warning,) = warnings_of(caplog)
    assert "neurogated[multilingual]" in warning
    assert "migrate" in warning


def test_a_memory_of_chinese_messages_warns(caplog: pytest.LogCaptureFixture) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for number in range(12):
            memory.add({"role": "user", "name": "Ana", "content": f"今天我买了{number}本书。"}, session_id="s")
    assert len([text for text in warnings_of(caplog) if "multilingual" in text]) == 1


CACHED = ["a cat", "a dog", "我愛你", ""]


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
    cached.embed_documents(CACHED)
    vector = counting.vectors(CACHED[:1]).tobytes()
    assert any(vector in file.read_bytes() for file in path.parent.iterdir())

    cached.clear()
    assert not any(vector in file.read_bytes() for file in path.parent.iterdir())
    cached.embed_documents(CACHED)
    assert counting.documents == Counter([*CACHED, *CACHED])


EMBEDDED = [
    "The surgeon operated on the patient.",
    "我愛你。",
    "x",
    "A doctor treated a sick man in the hospital. " * 8,
    "Stock prices fell on Monday.",
    "El gato duerme.",
    "!?",
]
ATOL = 1e-5


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)


def build(
    model: str = BUNDLED_MODEL, *, query_prompt: str | None = None, document_prompt: str | None = None
) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(model, batch_size=3, query_prompt=query_prompt, document_prompt=document_prompt)


@pytest.fixture(scope="module")
def untrained() -> Iterator[SentenceTransformersEmbedder]:
    untrained = build()
    yield untrained
    untrained.close()


@pytest.mark.slow
def test_a_batch_gives_the_vectors_of_its_texts_one_by_one(untrained: SentenceTransformersEmbedder) -> None:
    together = untrained.embed_documents(EMBEDDED)
    alone = np.concatenate([untrained.embed_documents([text]) for text in EMBEDDED])

    np.testing.assert_allclose(together, alone, atol=ATOL)


@pytest.mark.slow
@pytest.mark.nightly
def test_a_pool_of_processes_gives_the_vectors_of_one_and_is_started_once(
    untrained: SentenceTransformersEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled = SentenceTransformersEmbedder(BUNDLED_MODEL, batch_size=2, devices=["cpu", "cpu"])
    model_class = type(pooled.model())
    start = model_class.start_multi_process_pool
    started: list[list[str]] = []

    def count(model: Any, devices: list[str]) -> object:  # noqa: ANN401 - its class is imported late
        started.append(devices)
        return start(model, devices)

    # Patched on the class, because the model itself is sent to the processes.
    monkeypatch.setattr(model_class, "start_multi_process_pool", count)
    try:
        few = pooled.embed_documents(EMBEDDED[:2])
        assert not started
        documents, queries = pooled.embed_documents(EMBEDDED), pooled.embed_queries(EMBEDDED)
    finally:
        pooled.close()

    np.testing.assert_allclose(few, untrained.embed_documents(EMBEDDED[:2]), atol=ATOL)
    np.testing.assert_allclose(documents, untrained.embed_documents(EMBEDDED), atol=ATOL)
    np.testing.assert_allclose(queries, untrained.embed_queries(EMBEDDED), atol=ATOL)
    assert started == [["cpu", "cpu"]]


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["no-such-owner/no-such-model", "/no/such/folder"])
def test_a_model_that_does_not_exist_is_an_embedding_error_that_names_it(model: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        build(model).embed_documents(["a"])

    assert caught.value.__cause__ is not None
