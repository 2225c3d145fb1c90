import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from neurogated.embedding.sentence_transformers_embedder import BUNDLED_MODEL, SentenceTransformersEmbedder
from neurogated.errors import EmbeddingError

TEXTS = [
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
def embedder() -> Iterator[SentenceTransformersEmbedder]:
    embedder = build()
    yield embedder
    embedder.close()


@pytest.mark.slow
def test_a_batch_gives_the_vectors_of_its_texts_one_by_one(embedder: SentenceTransformersEmbedder) -> None:
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])

    np.testing.assert_allclose(together, alone, atol=ATOL)


@pytest.mark.slow
@pytest.mark.nightly
def test_a_pool_of_processes_gives_the_vectors_of_one_and_is_started_once(
    embedder: SentenceTransformersEmbedder, monkeypatch: pytest.MonkeyPatch
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
        few = pooled.embed_documents(TEXTS[:2])
        assert not started
        documents, queries = pooled.embed_documents(TEXTS), pooled.embed_queries(TEXTS)
    finally:
        pooled.close()

    np.testing.assert_allclose(few, embedder.embed_documents(TEXTS[:2]), atol=ATOL)
    np.testing.assert_allclose(documents, embedder.embed_documents(TEXTS), atol=ATOL)
    np.testing.assert_allclose(queries, embedder.embed_queries(TEXTS), atol=ATOL)
    assert started == [["cpu", "cpu"]]


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["no-such-owner/no-such-model", "/no/such/folder"])
def test_a_model_that_does_not_exist_is_an_embedding_error_that_names_it(model: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        build(model).embed_documents(["a"])

    assert caught.value.__cause__ is not None
