"""Judges the kind of a question without a language model, by cue words and embeddings."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.outage import answer_within
from neurogated.core.ports import Embedder, QuestionJudge
from neurogated.errors import InputError, LLMError
from neurogated.retrieval.question_cues import Cue, read_question

# A text that is no question is judged as one for a fact, with a low strength.
_STATEMENT_STRENGTH = 0.1

FITTED = "question_kinds.npz"
"""The file of the weights, written by `tools/fit_questions.py`."""


class FittedKinds(NamedTuple):
    """Logistic regressions of the kinds: over cues and the vectors of one embedder, and over cues alone."""

    embedder: str
    """Name of the embedder."""
    kinds: tuple[QuestionKind, ...]
    mean: NDArray[np.float32]
    """Mean of the examples' vectors (dimension,). Many models put all texts into one corner of their space."""
    weights: NDArray[np.float32]
    """(kinds, dimension + cue features)"""
    biases: NDArray[np.float32]
    cue_weights: NDArray[np.float32]
    """(kinds, cue features)"""
    cue_biases: NDArray[np.float32]

    def probabilities(self, cues: NDArray[np.float32], vector: NDArray[np.float32] | None) -> NDArray[np.float64]:
        """Return the probability of each kind (kinds,) for a question with these cue features; None: by cues alone."""
        logits: NDArray[np.float64]
        if vector is None:
            logits = self.cue_weights.astype(np.float64) @ cues + self.cue_biases
        else:
            logits = self.weights.astype(np.float64) @ np.concatenate([vector - self.mean, cues]) + self.biases
        powers = np.exp(logits - logits.max())
        probabilities: NDArray[np.float64] = powers / powers.sum()
        return probabilities


@lru_cache(maxsize=1)
def fitted_kinds() -> FittedKinds:
    """Return the weights that come with the package."""
    with resources.as_file(resources.files(__package__) / FITTED) as path, np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    kinds = tuple(map(QuestionKind, arrays.pop("kinds").tolist()))
    return FittedKinds(embedder=str(arrays.pop("embedder")), kinds=kinds, **arrays)


class OfflineQuestionJudge:
    """Logistic regression over embeddings and cue words.

    The weights come with the package. With an embedder other than the bundled one, the cues alone decide. The strength
    is the probability of the kind in the regression. Several threads may use one judge.
    """

    def __init__(self, embedder: Embedder) -> None:
        """Take the embedder that makes the vectors of questions."""
        self._embedder = embedder

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return kind, strength and reason; `vector`: (dimension,), the embedding of `query` by `embed_queries`.

        Raises:
            InputError: `vector` does not have the embedder's dimension.
            EmbeddingError: the embedder failed.
        """
        if not any(character.isalnum() for character in query):
            return QuestionJudgement(QuestionKind.FACT, 0.0, "it has no words")
        reading = read_question(query)
        if not reading.is_question:
            return QuestionJudgement(
                QuestionKind.FACT, _STATEMENT_STRENGTH, "it is no question but a statement or keywords"
            )
        fitted = fitted_kinds()
        probabilities = fitted.probabilities(reading.features, self._vector(query, vector, fitted))
        best = int(probabilities.argmax())
        kind = fitted.kinds[best]
        return QuestionJudgement(kind, float(probabilities[best]), _reason(kind, reading.cues))

    def _vector(self, query: str, given: NDArray[np.float32] | None, fitted: FittedKinds) -> NDArray[np.float32] | None:
        """Return the vector of a question, or None if the weights belong to another embedder."""
        if self._embedder.name != fitted.embedder:
            return None
        vector = self._embedder.embed_queries([query])[0] if given is None else np.asarray(given, dtype=np.float32)
        if vector.shape != fitted.mean.shape:
            raise InputError(f"the vector of a question has shape {vector.shape}, but must have {fitted.mean.shape}")
        return vector


def _reason(kind: QuestionKind, cues: tuple[Cue, ...]) -> str:
    """Return a phrase that quotes the clearest cue for `kind`."""
    speaking = sorted((cue for cue in cues if cue.kind is kind), key=lambda cue: not cue.is_strong)
    return f'says "{speaking[0].text}"' if speaking else "by its meaning, without a cue word"


class CascadedJudge:
    """Returns the offline judgement if it is sure, else the judgement of the model, which has a deadline."""

    def __init__(self, offline: QuestionJudge, model: QuestionJudge, *, sure: float, deadline: float) -> None:
        """Take the two judges.

        Args:
            offline: asked first.
            model: asked if the offline judgement is weaker than `sure`.
            sure: 0–1, strength from which the offline judgement suffices.
            deadline: seconds that the model has to answer.
        """
        self._offline = offline
        self._model = model
        self._sure = sure
        self._deadline = deadline

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return the judgement.

        Raises:
            LLMError: the model failed or missed the deadline. The cache keeps a late answer for the next time.
        """
        judgement = self._offline.judge(query, vector)
        if judgement.strength >= self._sure:
            return judgement
        try:
            return answer_within(self._deadline, lambda: self._model.judge(query, vector), "kernel")
        except TimeoutError:
            raise LLMError(
                f"the language model did not judge the question within {self._deadline:g} seconds; "
                "raise llm.kernel_deadline or choose a faster model"
            ) from None
