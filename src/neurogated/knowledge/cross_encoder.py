"""The judgement of a cross-encoder on pairs of sentences, read in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.judgements import Relation, RelationKind
from neurogated.errors import LLMError
from neurogated.knowledge.judging import in_order
from neurogated.knowledge.origin import sentence_of
from neurogated.knowledge.pairs import TextPair

_CONTRADICTION = "contradict"
"""How the name of the class begins."""


class PairClassifier(Protocol):
    """A model that puts pairs of texts into classes."""

    @property
    def labels(self) -> Sequence[str]:
        """The names of the classes."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (n, classes): how probable each class is for each pair. Raises LLMError."""


class CrossEncoderJudge:
    """Judges two sentences by a model of classes, which must find a contradiction in both directions."""

    def __init__(self, model: PairClassifier, threshold: float) -> None:
        """Take the model, and the probability from which a class counts."""
        self._model = model
        self._threshold = threshold

    def judge(self, pairs: Sequence[TextPair]) -> list[Relation | None]:
        """Return the relation of each pair; see `TextJudge`.

        Raises:
            LLMError: the model cannot be loaded, or has no class for contradiction.
        """
        texts = [(sentence_of(*earlier), sentence_of(*later)) for earlier, later in map(in_order, pairs)]
        place = self._contradiction()
        found = self._model.probabilities([*texts, *((later, earlier) for earlier, later in texts)])[:, place]
        in_both = np.minimum(found[: len(texts)], found[len(texts) :])
        return [self._relation(probability) for probability in in_both.tolist()]

    def _contradiction(self) -> int:
        labels = [label.casefold() for label in self._model.labels]
        found = [place for place, label in enumerate(labels) if label.startswith(_CONTRADICTION)]
        if len(found) != 1:
            raise LLMError(
                f"the classes of the cross-encoder are {', '.join(labels) or 'unnamed'}, but id2label in config.json "
                "must name one of them contradiction"
            )
        return found[0]

    def _relation(self, probability: float) -> Relation:
        if probability >= self._threshold:
            return Relation(RelationKind.CONTRADICTION, probability, "", "contested")
        return Relation(RelationKind.INDEPENDENT, 1 - probability, "")
