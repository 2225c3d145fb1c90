"""What a question is after, told without a language model: cue words and embeddings together."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.ports import Embedder
from neurogated.errors import ConfigError, InputError
from neurogated.retrieval.question_cues import Cue, read_question

__all__ = ["OfflineQuestionJudge", "QuestionExample", "load_examples"]

# The weight of a cue against the length of a centred vector, and the inverse regularisation of the two learners.
_CUE_SCALE = 1.5
_JOINT_FREEDOM = 0.5
_MEANING_FREEDOM = 1.0
# What each of the two adds to the sum; chosen so that strengths are about as high as the judge is often right.
_SHARE = 0.75
_MAX_ITERATIONS = 2000
# What is no question is recalled as a fact, and says next to nothing about how.
_STATEMENT_STRENGTH = 0.1


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """A question whose kind is known."""

    text: str
    kind: QuestionKind


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What was learned from the examples."""

    examples: tuple[QuestionExample, ...]
    vectors: NDArray[np.float32]
    mean: NDArray[np.float32]
    """Mean of the vectors: (dimension,). Many models put all texts into one corner of their space."""
    scale: float
    """What brings the centred vectors to a length of 1 on average."""
    kinds: tuple[QuestionKind, ...]
    weights: NDArray[np.float64]
    """(kinds, dimension + cue features)"""
    biases: NDArray[np.float64]

    def features(self, vector: NDArray[np.float32], cues: NDArray[np.float32]) -> NDArray[np.float64]:
        return _joined((vector - self.mean) * self.scale, cues)


# Embedders of one name make the same vectors, so what was learned over them serves every memory of the process.
_fitted: dict[tuple[str, tuple[QuestionExample, ...]], _Fitted] = {}
_fitting = threading.Lock()


def load_examples() -> tuple[QuestionExample, ...]:
    """Return the labelled questions that come with the package, English and Chinese."""
    text = resources.files(__package__).joinpath("question_examples.json").read_text(encoding="utf-8")
    return tuple(
        QuestionExample(question, QuestionKind(kind)) for kind, asked in json.loads(text).items() for question in asked
    )


class OfflineQuestionJudge:
    """Logistic regression over embeddings and cue words, fitted to labelled examples on first use.

    Any embedder will do: where its vectors tell kinds apart they add to the cues, elsewhere the cues decide.
    May be used from several threads. The strength is the probability that the regression gives to the kind.
    """

    def __init__(self, embedder: Embedder, examples: Sequence[QuestionExample] | None = None) -> None:
        """Take the embedder of the memory, and examples other than those of the package if wanted.

        Raises:
            ConfigError: the examples are all of one kind.
        """
        self._examples = tuple(load_examples() if examples is None else examples)
        if len({example.kind for example in self._examples}) <= 1:
            raise ConfigError(
                "the examples of a question judge are all of one kind; give questions of two or more kinds"
            )
        self._embedder = embedder
        self._fitted: _Fitted | None = None

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return kind, strength and reason; `vector`: (dimension,), what `embed_queries` makes of `query`.

        Raises:
            InputError: `vector` is not of the embedder's dimension.
            EmbeddingError: the embedder failed.
        """
        if not any(character.isalnum() for character in query):
            return QuestionJudgement(QuestionKind.FACT, 0.0, "there are no words")
        reading = read_question(query)
        if not reading.is_question:
            return QuestionJudgement(
                QuestionKind.FACT, _STATEMENT_STRENGTH, "nothing is asked; a statement or keywords"
            )
        fitted = self._fit_once()
        given = self._embedder.embed_queries([query])[0] if vector is None else np.asarray(vector, dtype=np.float32)
        if given.shape != fitted.mean.shape:
            raise InputError(f"the vector of a question has shape {given.shape}, but must have {fitted.mean.shape}")
        logits = fitted.weights @ fitted.features(given, reading.features) + fitted.biases
        chances = np.exp(logits - logits.max())
        best = int(np.argmax(chances))
        kind = fitted.kinds[best]
        strength = float(chances[best] / chances.sum())
        return QuestionJudgement(kind, strength, _reason(kind, reading.cues, fitted, given))

    def _fit_once(self) -> _Fitted:
        if self._fitted is None:
            key = self._embedder.name, self._examples
            with _fitting:
                if key not in _fitted:
                    _fitted[key] = _fit(self._examples, self._embedder)
                self._fitted = _fitted[key]
        return self._fitted


def _fit(examples: tuple[QuestionExample, ...], embedder: Embedder) -> _Fitted:
    """Fit one regression to vectors and cues and one to vectors alone, and return their sum.

    Among examples the cues are nearly always there and right, so a learner that sees both forgets the vectors, and
    takes a question without cues for a fact.
    """
    vectors = embedder.embed_queries([example.text for example in examples])
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    spread = float(np.linalg.norm(centred, axis=1).mean())
    scale = 1 / spread if spread > 0 else 1.0
    cues = np.stack([read_question(example.text).features for example in examples])
    labels = [example.kind.value for example in examples]
    weights, biases = _regression(_joined(centred * scale, cues), labels, _JOINT_FREEDOM)
    alone, alone_biases = _regression(centred * scale, labels, _MEANING_FREEDOM)
    # The sum of two linear models is one; half of it would be as sure as either, but two that agree may be surer.
    weights = (weights + np.pad(alone, ((0, 0), (0, cues.shape[1])))) * _SHARE
    kinds = tuple(QuestionKind(label) for label in sorted(set(labels)))
    return _Fitted(examples, vectors, mean, scale, kinds, weights, (biases + alone_biases) * _SHARE)


def _regression(
    features: NDArray[np.floating], labels: Sequence[str], freedom: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights (labels, features) and biases of a logistic regression, labels in alphabetical order."""
    # Loaded here because it takes a second, by name because it has no types to check.
    learner = importlib.import_module("sklearn.linear_model").LogisticRegression(C=freedom, max_iter=_MAX_ITERATIONS)
    learner.fit(features, labels)
    if len(learner.coef_) > 1:
        return learner.coef_, learner.intercept_
    # Of two labels the learner keeps the weights of the second only.
    return np.pad(learner.coef_, ((1, 0), (0, 0))), np.pad(learner.intercept_, (1, 0))


def _joined(vectors: NDArray[np.float32], cues: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.concatenate([vectors, cues * _CUE_SCALE], axis=-1).astype(np.float64)


def _reason(kind: QuestionKind, cues: tuple[Cue, ...], fitted: _Fitted, vector: NDArray[np.float32]) -> str:
    """Return a sentence that quotes the clearest cue for `kind` and the most similar example of it."""
    rows = [row for row, example in enumerate(fitted.examples) if example.kind is kind]
    nearest = fitted.examples[rows[int(np.argmax(fitted.vectors[rows] @ vector))]].text
    speaking = sorted((cue for cue in cues if cue.kind is kind), key=lambda cue: not cue.is_strong)
    found = f'says "{speaking[0].text}"' if speaking else "has no cue word"
    return f"{found}; nearest example: {nearest}"
