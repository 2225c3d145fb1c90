"""Embedders by name, the one that needs no model, and the watch over languages."""

import json
import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import EmbeddingSettings
from neurogated.core.ports import Embedder
from neurogated.embedding.bundled_model import BundledEmbedder
from neurogated.embedding.exported_model import unit_vectors
from neurogated.embedding.language_watch import LanguageWatch
from neurogated.embedding.openai_embedder import OpenAIEmbedder
from neurogated.embedding.registry import HashEmbedder, build_embedder
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
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
