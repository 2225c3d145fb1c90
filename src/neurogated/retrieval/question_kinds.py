"""Judges the kind of a question without a language model, by cue words and embeddings."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated.core.forking import ForkSafeLock
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.packaged import packaged_json
from neurogated.core.ports import Embedder
from neurogated.errors import ConfigError, InputError
from neurogated.retrieval.question_cues import Cue, read_question
from neurogated.retrieval.question_learning import LearnedKinds, QuestionExample, learn

__all__ = ["FITTED", "OfflineQuestionJudge", "QuestionExample", "load_examples"]

_log = logging.getLogger(__name__)

# A text that is no question is judged as one for a fact, with a low strength.
_STATEMENT_STRENGTH = 0.1


FITTED = "question_kinds.npz"
"""The file of the fit that comes with the package."""
# Embedders with the same name make the same vectors, so all memories of the process share a fit.
_learned: dict[tuple[str, tuple[QuestionExample, ...]], LearnedKinds] = {}
_learning = ForkSafeLock()


def load_examples() -> tuple[QuestionExample, ...]:
    """Return the labelled questions of the package, English and Chinese."""
    kinds = packaged_json(__package__, "question_examples.json")
    return tuple(QuestionExample(question, QuestionKind(kind)) for kind, asked in kinds.items() for question in asked)


class OfflineQuestionJudge:
    """Logistic regression over embeddings and cue words, fitted to labelled examples.

    The package has the fit for its embedder; another one is fitted on first use. The judge works with every embedder.
    If the vectors do not distinguish the kinds, the cues decide. The strength is the probability of the kind in the
    regression. Several threads may use one judge.
    """

    def __init__(
        self,
        embedder: Embedder,
        examples: Sequence[QuestionExample] | None = None,
        *,
        file: Path | None = None,
        read_only: bool = False,
    ) -> None:
        """Take the embedder and the examples.

        Args:
            embedder: makes the vectors of questions.
            examples: questions with known kinds. Default: the examples of the package.
            file: saves the fit for the next process. Default: none.
            read_only: do not write the file.

        Raises:
            ConfigError: all examples have the same kind.
        """
        self._examples = tuple(load_examples() if examples is None else examples)
        if len({example.kind for example in self._examples}) <= 1:
            raise ConfigError(
                "the examples of a question judge all have the same kind; give questions of two or more kinds"
            )
        self._embedder = embedder
        self._file = file
        self._read_only = read_only
        self._known: LearnedKinds | None = None

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
        learned = self._learn_once()
        given = self._embedder.embed_queries([query])[0] if vector is None else np.asarray(vector, dtype=np.float32)
        if given.shape != learned.mean.shape:
            raise InputError(f"the vector of a question has shape {given.shape}, but must have {learned.mean.shape}")
        probabilities = learned.probabilities(given, reading.features)
        best = int(probabilities.argmax())
        kind = learned.kinds[best]
        return QuestionJudgement(kind, float(probabilities[best]), _reason(kind, reading.cues, learned, given))

    def _learn_once(self) -> LearnedKinds:
        if self._known is None:
            key = self._embedder.name, self._examples
            with _learning:
                if key not in _learned:
                    _learned[key] = self._load() or self._packaged() or self._learn()
                self._known = _learned[key]
        return self._known

    def _learn(self) -> LearnedKinds:
        learned = learn(self._examples, self._embedder)
        if self._file is not None and not self._read_only:
            try:
                learned.save(self._file, self._embedder.name)
            except OSError as error:
                _log.warning("the fit of the question judge was not saved, so the next process repeats it: %s", error)
        return learned

    def _packaged(self) -> LearnedKinds | None:
        """Return the fit that comes with the package, written by `tools/fit_questions.py`; None for other embedders."""
        with resources.as_file(resources.files(__package__) / FITTED) as path:
            try:
                return LearnedKinds.load(path, self._embedder.name, self._examples)
            except ValueError:
                return None

    def _load(self) -> LearnedKinds | None:
        if self._file is None or not self._file.exists():
            return None
        try:
            return LearnedKinds.load(self._file, self._embedder.name, self._examples)
        except (OSError, ValueError) as error:
            _log.warning("the question judge is fitted again, because %s is not usable: %s", self._file, error)
            return None


def _reason(kind: QuestionKind, cues: tuple[Cue, ...], learned: LearnedKinds, vector: NDArray[np.float32]) -> str:
    """Return a phrase that quotes the clearest cue for `kind` and its most similar example."""
    speaking = sorted((cue for cue in cues if cue.kind is kind), key=lambda cue: not cue.is_strong)
    found = f'says "{speaking[0].text}"' if speaking else "has no cue word"
    return f"{found}; nearest example: {learned.nearest(kind, vector)}"
