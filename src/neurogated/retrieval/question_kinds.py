"""What a question is after, told without a language model: cue words and embeddings together."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated.core.forking import ForkSafeLock
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.ports import Embedder
from neurogated.errors import ConfigError, InputError
from neurogated.retrieval.question_cues import Cue, read_question
from neurogated.retrieval.question_learning import LearnedKinds, QuestionExample, learn

__all__ = ["OfflineQuestionJudge", "QuestionExample", "load_examples"]

_log = logging.getLogger(__name__)

# What is no question is recalled as a fact, and says next to nothing about how.
_STATEMENT_STRENGTH = 0.1


# Embedders of one name make the same vectors, so what was learned over them serves every memory of the process.
_learned: dict[tuple[str, tuple[QuestionExample, ...]], LearnedKinds] = {}
_learning = ForkSafeLock()


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

    def __init__(
        self,
        embedder: Embedder,
        examples: Sequence[QuestionExample] | None = None,
        *,
        kept_in: Path | None = None,
        read_only: bool = False,
    ) -> None:
        """Take the embedder of the memory, and examples other than those of the package if wanted.

        Args:
            embedder: makes the vectors of questions.
            examples: questions whose kinds are known.
            kept_in: file to read what was learned from, and to keep it in for the next time; none when left out.
            read_only: write no file.

        Raises:
            ConfigError: the examples are all of one kind.
        """
        self._examples = tuple(load_examples() if examples is None else examples)
        if len({example.kind for example in self._examples}) <= 1:
            raise ConfigError(
                "the examples of a question judge are all of one kind; give questions of two or more kinds"
            )
        self._embedder = embedder
        self._kept_in = kept_in
        self._read_only = read_only
        self._known: LearnedKinds | None = None

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
        learned = self._learn_once()
        given = self._embedder.embed_queries([query])[0] if vector is None else np.asarray(vector, dtype=np.float32)
        if given.shape != learned.mean.shape:
            raise InputError(f"the vector of a question has shape {given.shape}, but must have {learned.mean.shape}")
        chances = learned.chances(given, reading.features)
        best = int(chances.argmax())
        kind = learned.kinds[best]
        return QuestionJudgement(kind, float(chances[best]), _reason(kind, reading.cues, learned, given))

    def _learn_once(self) -> LearnedKinds:
        if self._known is None:
            key = self._embedder.name, self._examples
            with _learning:
                if key not in _learned:
                    _learned[key] = self._kept() or self._learn()
                self._known = _learned[key]
        return self._known

    def _learn(self) -> LearnedKinds:
        learned = learn(self._examples, self._embedder)
        if self._kept_in is not None and not self._read_only:
            try:
                learned.keep(self._kept_in, self._embedder.name)
            except OSError as error:
                _log.warning("the kinds of question are learned anew next time, they cannot be kept: %s", error)
        return learned

    def _kept(self) -> LearnedKinds | None:
        if self._kept_in is None or not self._kept_in.exists():
            return None
        try:
            return LearnedKinds.kept(self._kept_in, self._embedder.name, self._examples)
        except (OSError, ValueError) as error:
            _log.warning("the kinds of question are learned anew, %s is of no use: %s", self._kept_in, error)
            return None


def _reason(kind: QuestionKind, cues: tuple[Cue, ...], learned: LearnedKinds, vector: NDArray[np.float32]) -> str:
    """Return a sentence that quotes the clearest cue for `kind` and the most similar example of it."""
    speaking = sorted((cue for cue in cues if cue.kind is kind), key=lambda cue: not cue.is_strong)
    found = f'says "{speaking[0].text}"' if speaking else "has no cue word"
    return f"{found}; nearest example: {learned.nearest(kind, vector)}"
