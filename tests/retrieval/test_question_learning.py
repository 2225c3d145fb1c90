"""The fit of the question judge: the optimum of the regression, and its file."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from neurogated.core.judgements import QuestionKind
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.retrieval.question_kinds import OfflineQuestionJudge, QuestionExample
from neurogated.retrieval.question_learning import LearnedKinds, learn
from neurogated.retrieval.regression import regression

QUESTION = "Why did the mill close?"
EXAMPLES = (
    QuestionExample("Why is it cold?", QuestionKind.WHY),
    QuestionExample("When was it cold?", QuestionKind.WHEN),
    QuestionExample("Who was cold?", QuestionKind.FACT),
)


class NamedEmbedder(HashEmbedder):
    """Has a name that no other test uses, and counts the texts it was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.embedded = 0

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += len(texts)
        return super().embed_queries(texts)


@given(seed=st.integers(0, 2**32 - 1), kinds=st.integers(2, 5), freedom=st.sampled_from([0.1, 0.5, 1.0]))
def test_regression_finds_the_optimum_of_scikit_learn(seed: int, kinds: int, freedom: float) -> None:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((40, 7))
    labels = [f"kind {number}" for number in [*range(kinds), *rng.integers(kinds, size=40 - kinds)]]
    weights, biases = regression(features, labels, freedom)
    reference = LogisticRegression(C=freedom, max_iter=2000, tol=1e-8).fit(features, labels)

    def chances(logits: NDArray[np.float64]) -> NDArray[np.float64]:
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    found = chances(features @ weights.T + biases)
    assert np.abs(found - reference.predict_proba(features)).max() < 1e-4


def test_the_fit_is_saved_and_read_by_the_next_process(tmp_path: Path) -> None:
    path, embedder = tmp_path / "kinds.npz", NamedEmbedder("saved")
    learned = learn(EXAMPLES, embedder)
    learned.save(path, embedder.name)
    saved = LearnedKinds.load(path, embedder.name, EXAMPLES)
    assert saved.kinds == learned.kinds
    vector, cues = (
        embedder.embed_queries([QUESTION])[0],
        np.ones(27, dtype=np.float32)[: learned.weights.shape[1] - 256],
    )
    assert np.array_equal(saved.probabilities(vector, cues), learned.probabilities(vector, cues))
    assert saved.nearest(QuestionKind.WHY, vector) == "Why is it cold?"
    assert [file.name for file in tmp_path.iterdir()] == ["kinds.npz"]


def test_a_judge_learns_once_and_then_reads(tmp_path: Path) -> None:
    path, first = tmp_path / "kinds.npz", NamedEmbedder("learns once")
    judged = OfflineQuestionJudge(first, EXAMPLES, file=path).judge(QUESTION)
    assert first.embedded == len(EXAMPLES) + 1
    # A process shares the fit by name. The file is for the next process, which has no fit yet.
    saved = LearnedKinds.load(path, "learns once", EXAMPLES)
    other = NamedEmbedder("another name")
    saved.save(path, other.name)
    assert OfflineQuestionJudge(other, EXAMPLES, file=path).judge(QUESTION) == judged
    assert other.embedded == 1


@pytest.mark.parametrize("damage", ["empty", "garbage", "cut", "other examples", "other embedder", "other shape"])
def test_a_damaged_or_foreign_fit_is_repeated_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    path, embedder = tmp_path / "kinds.npz", NamedEmbedder(f"damaged: {damage}")
    learned = learn(EXAMPLES, embedder)
    learned.save(path, "someone" if damage == "other embedder" else embedder.name)
    examples = EXAMPLES[:2] if damage == "other examples" else EXAMPLES
    if damage in ("empty", "garbage", "cut"):
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "garbage": b"no archive", "cut": whole[: len(whole) // 2]}[damage])
    elif damage == "other shape":
        with np.load(path) as file:
            np.savez(path, **{**file, "weights": file["weights"][:, :-1]})
    with caplog.at_level(logging.WARNING):
        judged = OfflineQuestionJudge(embedder, examples, file=path).judge(QUESTION)
    assert judged.kind is QuestionKind.WHY
    assert "fitted again" in caplog.text
    assert LearnedKinds.load(path, embedder.name, examples).examples == examples


def test_a_judge_for_reading_only_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kinds.npz"
    judge = OfflineQuestionJudge(NamedEmbedder("reads only"), EXAMPLES, file=path, read_only=True)
    assert judge.judge(QUESTION).kind is QuestionKind.WHY
    assert list(tmp_path.iterdir()) == []


def test_a_judge_answers_if_its_fit_cannot_be_saved(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    judge = OfflineQuestionJudge(NamedEmbedder("no folder"), EXAMPLES, file=tmp_path / "none" / "kinds.npz")
    assert judge.judge(QUESTION).kind is QuestionKind.WHY
    assert "not saved" in caplog.text
