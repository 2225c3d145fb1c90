"""Fits the judge of questions to examples, and saves the fit in a file."""

from __future__ import annotations

import hashlib
import json
import logging
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionKind
from neurogated.core.ports import Embedder
from neurogated.retrieval.question_cues import patterns, read_question
from neurogated.retrieval.regression import TOLERANCE, regression

__all__ = ["LearnedKinds", "QuestionExample", "learn"]

_log = logging.getLogger(__name__)

# Weight of a cue relative to the length of a centred vector, and inverse regularisation of the two regressions.
_CUE_SCALE = 1.5
_JOINT_FREEDOM = 0.5
_MEANING_FREEDOM = 1.0
# Weight of each regression in their sum, chosen so that the mean strength is about the judge's accuracy.
_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """A question with its known kind."""

    text: str
    kind: QuestionKind


@dataclass(frozen=True)
class LearnedKinds:
    """The fit to examples, with the vectors of one embedder."""

    examples: tuple[QuestionExample, ...]
    vectors: NDArray[np.float32]
    """(examples, dimension)"""
    mean: NDArray[np.float32]
    """Mean of the vectors (dimension,). Many models put all texts into one corner of their space."""
    scale: float
    """Factor by which centred vectors have a mean length of 1."""
    weights: NDArray[np.float64]
    """(kinds, dimension + cue features)"""
    biases: NDArray[np.float64]

    @cached_property
    def kinds(self) -> tuple[QuestionKind, ...]:
        """The kinds in the order of their weights."""
        return tuple(QuestionKind(label) for label in sorted({example.kind.value for example in self.examples}))

    @cached_property
    def _by_kind(self) -> dict[QuestionKind, tuple[list[str], NDArray[np.float32]]]:
        of_kind = {kind: [e.kind is kind for e in self.examples] for kind in self.kinds}
        return {
            kind: ([e.text for e in self.examples if e.kind is kind], self.vectors[rows])
            for kind, rows in of_kind.items()
        }

    def probabilities(self, vector: NDArray[np.float32], cues: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each kind (kinds,) for a question with this embedding and these cue features."""
        logits = self.weights @ _joined((vector - self.mean) * self.scale, cues) + self.biases
        powers = np.exp(logits - logits.max())
        probabilities: NDArray[np.float64] = powers / powers.sum()
        return probabilities

    def nearest(self, kind: QuestionKind, vector: NDArray[np.float32]) -> str:
        """Return the example of `kind` that is most similar to a question."""
        texts, vectors = self._by_kind[kind]
        # A matrix product may start threads of BLAS, but `einsum` does not.
        return texts[int(np.einsum("ij,j->i", vectors, vector).argmax())]

    def save(self, path: Path, embedder: str) -> None:
        """Write the fit and the name of its embedder to a file, atomically.

        Raises:
            OSError: the file cannot be written.
        """
        draft = path.with_name(f"{path.name}.{uuid4().hex}")
        try:
            with draft.open("xb") as file:
                np.savez(
                    file,
                    about=np.array(_about(embedder, self.examples)),
                    vectors=self.vectors,
                    mean=self.mean,
                    scale=np.array(self.scale),
                    weights=self.weights,
                    biases=self.biases,
                )
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, embedder: str, examples: tuple[QuestionExample, ...]) -> LearnedKinds:
        """Return the fit that `save` wrote.

        Raises:
            OSError: there is no file, or it cannot be read.
            ValueError: the file is damaged, or its fit has other examples, cues or vectors.
        """
        try:
            # Numpy does not close a file that it cannot read, so the file is opened here.
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if arrays.pop("about") != _about(embedder, examples):
                raise ValueError("it has other examples, cues or vectors")
            learned = cls(examples, scale=float(arrays.pop("scale")), **arrays)
        except (KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"it is damaged ({error!r})") from error
        if not learned._fits():
            raise ValueError("it is damaged (its arrays have wrong shapes)")
        return learned

    def _fits(self) -> bool:
        dimension = self.mean.size
        return (
            self.vectors.shape == (len(self.examples), dimension)
            and self.weights.shape == (len(self.kinds), dimension + read_question("").features.size)
            and self.biases.shape == (len(self.kinds),)
        )


def learn(examples: tuple[QuestionExample, ...], embedder: Embedder) -> LearnedKinds:
    """Fit one regression to vectors and cues and one to vectors alone, and return their sum.

    Nearly all examples have correct cues. So a regression with both hardly uses the vectors, and judges a question
    without cues as one for a fact.
    """
    vectors = embedder.embed_queries([example.text for example in examples])
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    spread = float(np.linalg.norm(centred, axis=1).mean())
    scale = 1 / spread if spread > 0 else 1.0
    cues = np.stack([read_question(example.text).features for example in examples])
    labels = [example.kind.value for example in examples]
    weights, biases = regression(_joined(centred * scale, cues), labels, _JOINT_FREEDOM)
    alone, alone_biases = regression((centred * scale).astype(np.float64), labels, _MEANING_FREEDOM)
    # The sum of two linear models is linear. Their mean would be as sure as each of them, but if both agree, the
    # judgement may be surer.
    weights = (weights + np.pad(alone, ((0, 0), (0, cues.shape[1])))) * _SHARE
    return LearnedKinds(examples, vectors, mean, scale, weights, (biases + alone_biases) * _SHARE)


def _about(embedder: str, examples: tuple[QuestionExample, ...]) -> str:
    """Return a checksum of everything that determines the fit."""
    numbers = _CUE_SCALE, _JOINT_FREEDOM, _MEANING_FREEDOM, _SHARE, TOLERANCE
    asked = [(example.text, example.kind.value) for example in examples]
    return hashlib.sha256(json.dumps([embedder, numbers, list(patterns()), asked]).encode()).hexdigest()


def _joined(vectors: NDArray[np.float32], cues: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.concatenate([vectors, cues * _CUE_SCALE], axis=-1).astype(np.float64)
